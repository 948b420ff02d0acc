/* A pipeline of two plain MPI ranks, to hold a link's overhead against: rank 0 sends FRAMES tensors
   of BYTES to rank 1, which sends as many of ANSWER bytes back. Each rank works on a frame for
   MICROSECONDS. Receives are posted one frame ahead.
     mpicc -O2 -o cluster_mpi cluster_mpi.c
     mpirun -np 2 cluster_mpi FRAMES BYTES ANSWER MICROSECONDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ahead = 2 };

static void work(double microseconds) {
  const double end = MPI_Wtime() + microseconds / 1e6;
  while (MPI_Wtime() < end) continue;
}

static char* tensor(int bytes) { return calloc(1, bytes > 0 ? (size_t)bytes : 1); }

static void send_frames(int frames, int bytes, int answer_bytes, double time) {
  char* out = tensor(bytes);
  char* in[ahead];
  MPI_Request answers[ahead], sent = MPI_REQUEST_NULL;
  for (int i = 0; i < ahead; ++i) {
    in[i] = tensor(answer_bytes);
    answers[i] = MPI_REQUEST_NULL;
  }
  for (int frame = 0; frame < frames; ++frame) {
    work(time);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    MPI_Wait(&answers[frame % ahead], MPI_STATUS_IGNORE);
    MPI_Irecv(in[frame % ahead], answer_bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD,
              &answers[frame % ahead]);
    MPI_Isend(out, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &sent);
  }
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  MPI_Waitall(ahead, answers, MPI_STATUSES_IGNORE);
}

static void answer_frames(int frames, int bytes, int answer_bytes, double time) {
  char* in[ahead];
  MPI_Request frames_in[ahead];
  char* out = tensor(answer_bytes);
  for (int i = 0; i < ahead && i < frames; ++i) {
    in[i] = tensor(bytes);
    MPI_Irecv(in[i], bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &frames_in[i]);
  }
  for (int frame = 0; frame < frames; ++frame) {
    MPI_Wait(&frames_in[frame % ahead], MPI_STATUS_IGNORE);
    work(time);
    if (frame + ahead < frames)
      MPI_Irecv(in[frame % ahead], bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
                &frames_in[frame % ahead]);
    MPI_Send(out, answer_bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (count != 5) {
    if (rank == 0) fprintf(stderr, "cluster_mpi FRAMES BYTES ANSWER MICROSECONDS\n");
    MPI_Finalize();
    return 2;
  }
  const int frames = atoi(words[1]), bytes = atoi(words[2]), answer_bytes = atoi(words[3]);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  if (rank == 0) send_frames(frames, bytes, answer_bytes, atof(words[4]));
  if (rank == 1) answer_frames(frames, bytes, answer_bytes, atof(words[4]));
  if (rank == 0) printf("%.3f ms for a frame\n", (MPI_Wtime() - begin) * 1e3 / frames);
  MPI_Finalize();
  return 0;
}
