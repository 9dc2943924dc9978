"""Lightning's Trainer, started by torchrun itself."""

from common import same
from lightning_launcher import program

if __name__ == "__main__":
    same(program, torchrun=True)
