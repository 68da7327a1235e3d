/* A C program written for MXNet's predict API, as its users write them: it knows the header, a checkpoint's
 * files and nothing else, and is linked with -lsymbind alone.
 *
 *   predict SYMBOL.json FILE.params BATCH HEIGHT WIDTH [NODE]
 *
 * Predicts numbers made up by a rule and prints the output, of the network or of a node inside, one a line.
 * Then it misuses the API, which must not end the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mxnet/c_predict_api.h>

static char* read_whole(const char* path, long* size) {
  FILE* file = fopen(path, "rb");
  char* bytes;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) exit(3);
  *size = ftell(file);
  rewind(file);
  bytes = malloc((size_t)*size + 1);
  if (bytes == NULL || fread(bytes, 1, (size_t)*size, file) != (size_t)*size) exit(3);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

static void must(int status) {
  if (status == 0) return;
  fprintf(stderr, "%s\n", MXGetLastError());
  exit(1);
}

static void must_fail(int status) {
  if (status == -1 && strlen(MXGetLastError()) > 0) return;
  fprintf(stderr, "a mistake was not noticed\n");
  exit(4);
}

int main(int argc, char** argv) {
  const char* keys[] = {"data"};
  const mx_uint first_and_last[] = {0, 4};
  mx_uint shape[] = {0, 3, 0, 0};
  const char* nodes[1];
  PredictorHandle predictor = NULL, reshaped = NULL;
  NDListHandle list = NULL;
  mx_uint count = 0, size = 1, i, rank = 0, *out_shape = NULL;
  long json_size, params_size;
  char *json, *params;
  float *input, *output;
  if (argc < 6) return 2;
  shape[0] = (mx_uint)atoi(argv[3]);
  shape[2] = (mx_uint)atoi(argv[4]);
  shape[3] = (mx_uint)atoi(argv[5]);
  json = read_whole(argv[1], &json_size);
  params = read_whole(argv[2], &params_size);

  if (argc > 6) {
    nodes[0] = argv[6];
    must(MXPredCreatePartialOut(json, params, (int)params_size, 1, 0, 1, keys, first_and_last, shape, 1, nodes,
                                &predictor));
  } else {
    const mx_uint other[] = {1, 3, 6, 6};
    must(MXPredCreate(json, params, (int)params_size, 1, 0, 1, keys, first_and_last, other, &reshaped));
    must(MXPredReshape(1, keys, first_and_last, shape, reshaped, &predictor));
    must(MXPredFree(reshaped));
  }
  must(MXNDListCreate(params, (int)params_size, &list, &count));
  must(MXNDListFree(list));
  free(json);
  free(params);

  for (i = 0; i < 4; ++i) size *= shape[i];
  input = malloc(size * sizeof(float));
  for (i = 0; i < size; ++i) input[i] = (float)(i * 7 % 101) / 101.0f - 0.5f;
  must(MXPredSetInput(predictor, "data", input, size));
  must(MXPredForward(predictor));
  must(MXPredGetOutputShape(predictor, 0, &out_shape, &rank));
  for (size = 1, i = 0; i < rank; ++i) size *= out_shape[i];
  output = malloc(size * sizeof(float));
  must(MXPredGetOutput(predictor, 0, output, size));
  for (i = 0; i < size; ++i) printf("%.9g\n", (double)output[i]);

  must_fail(MXPredGetOutput(predictor, 7, output, size));
  must_fail(MXPredSetInput(predictor, "dta", input, 1));
  must_fail(MXPredForward(NULL));
  must(MXPredFree(predictor));
  must_fail(MXPredForward(predictor));
  must_fail(MXPredFree(predictor));
  must_fail(MXNDListFree(list));
  free(input);
  free(output);
  return 0;
}
