#pragma once

// Launchers (torchrun, mpirun, srun) start a program several times and set the rank of
// each process in its environment: its rank among all, and its local rank on its
// machine. If several launchers have set their variables (mpirun inside a Slurm job,
// torchrun inside srun), the inner one counts, which is the earlier one in kLaunchers.
//
// Pure functions of the environment.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/config/yaml/variables.h"

namespace brigade {

/// The names of its variables.
struct Launcher {
  const char* rank;         ///< 0 .. world - 1
  const char* world;        ///< processes in all
  const char* local_rank;   ///< 0 .. local_world - 1
  const char* local_world;  ///< processes on this machine
};

/// torchrun, Open MPI, MVAPICH, the MPIs of the Hydra family (MPICH, Intel), Slurm.
inline constexpr std::array<Launcher, 5> kLaunchers = {
    {{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
      "OMPI_COMM_WORLD_LOCAL_SIZE"},
     {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
      "MV2_COMM_WORLD_LOCAL_SIZE"},
     {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
     {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"}}};

/// The runs that share this machine, as their launcher has counted them.
struct LocalRuns {
  std::uint64_t size = 1;
  std::optional<std::uint64_t> rank;  ///< of this one, less than `size`
  std::string size_variable;          ///< that said so; empty: none
  std::string rank_variable;          ///< likewise
};

/// LOCAL_WORLD_SIZE counts by itself; what other launchers say, only beside their rank (a shell
/// inside a Slurm job has SLURM_NTASKS_PER_NODE, but is none of its tasks). Where a Slurm job did
/// not ask for so many tasks on each machine, SLURM_STEP_TASKS_PER_NODE says how many there are, if
/// there are as many everywhere. What is no number above 0 says nothing.
LocalRuns local_runs(const Environment& environment);

}  // namespace brigade
