#include "stages/image/decode/imgcodecs.h"

brigade::ImageReader* brigade_imgcodecs_v3(brigade::ImageCodec codec) {
  return codec == brigade::ImageCodec::webp ? brigade::make_webp_reader().release()
                                            : brigade::make_tiff_reader().release();
}
