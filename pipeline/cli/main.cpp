#include <brigade/app.h>

int main(int argc, char** argv) { return brigade::App(argc, argv).run_command(); }
