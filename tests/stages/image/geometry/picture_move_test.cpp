#include "stages/image/geometry/picture_move.h"

#include <gtest/gtest.h>

#include "stages/image/augment/warp.h"
#include "stages/image/geometry/warp_places.h"

namespace brigade {
namespace {

TEST(PictureMoveTest, PlacesGoForwardToWhereTheResultLooksThemUp) {
  const PictureSize size{40, 52};
  const PictureMove affine{
      .kind = PictureMove::Kind::affine,
      .from = size,
      .to = size,
      .affine = inverse_affine({.degrees = 25, .translate_x = 3, .scale = 1.3, .shear_x = 10})};
  const PictureMove perspective{
      .kind = PictureMove::Kind::perspective,
      .from = size,
      .to = size,
      .perspective = perspective_between({{{0, 0}, {51, 0}, {51, 39}, {0, 39}}},
                                         {{{4, 7}, {45, 2}, {50, 30}, {9, 36}}})};
  const AffinePlaces affine_places(affine.affine, size);
  const PerspectivePlaces perspective_places(perspective.perspective);
  for (const float y : {0.0F, 7.0F, 39.0F})
    for (const float x : {0.0F, 20.0F, 51.0F}) {
      const auto from = affine_places(y, x);
      const auto to = affine.forward({from.column + 0.5, from.row + 0.5}).value();
      EXPECT_NEAR(to.x, x + 0.5, 1e-3);
      EXPECT_NEAR(to.y, y + 0.5, 1e-3);
      const auto far = perspective_places(y, x);
      const auto back = perspective.forward({far.column + 0.5, far.row + 0.5}).value();
      EXPECT_NEAR(back.x, x + 0.5, 1e-3);
      EXPECT_NEAR(back.y, y + 0.5, 1e-3);
    }
}

TEST(PictureMoveTest, TheMatrixIsThatOfTheMoves) {
  const PictureMove moves[] = {
      {.from = {40, 52}, .to = {30, 30}, .y = -2, .x = 5, .window = {20, 40}},
      {.kind = PictureMove::Kind::flip_columns, .from = {30, 30}, .to = {30, 30}},
      {.kind = PictureMove::Kind::affine,
       .from = {30, 30},
       .to = {30, 30},
       .affine = inverse_affine({.degrees = 25, .translate_x = 3, .scale = 1.3, .shear_x = 10})},
      {.kind = PictureMove::Kind::flip_rows, .from = {30, 30}, .to = {30, 30}},
      {.kind = PictureMove::Kind::perspective,
       .from = {30, 30},
       .to = {30, 30},
       .perspective = perspective_between({{{0, 0}, {29, 0}, {29, 29}, {0, 29}}},
                                          {{{4, 2}, {25, 2}, {28, 26}, {3, 27}}})}};
  PicturePoint place{17, 12};
  for (std::size_t i = 0; i < std::size(moves); ++i) {
    place = moves[i].forward(place).value();
    float m[9];
    write_matrix(matrix_of({moves, i + 1}), m);
    const float w = m[6] * 17 + m[7] * 12 + m[8];
    EXPECT_NEAR((m[0] * 17 + m[1] * 12 + m[2]) / w, place.x, 1e-3) << i;
    EXPECT_NEAR((m[3] * 17 + m[4] * 12 + m[5]) / w, place.y, 1e-3) << i;
    EXPECT_EQ(m[8], 1);
  }
}

TEST(PictureMoveTest, WhatIsBehindTheHorizonGoesNowhere) {
  const PictureMove move{.kind = PictureMove::Kind::perspective,
                         .from = {10, 10},
                         .to = {10, 10},
                         .perspective = {1, 0, 0, 0, 1, 0, -0.2, 0}};
  EXPECT_TRUE(move.forward({2, 2}));
  EXPECT_FALSE(move.forward({-10, 2}));
}

}  // namespace
}  // namespace brigade
