// ctest: run unit
// The C++ of the manual's pages, so that it compiles and runs: docs/from_mxnet.md, checkpoints.md,
// devices.md, bucketing.md and questions.md. A block in braces is a snippet there, word for word;
// the test docs.snippets compares them.

#include <cstdio>
#include <filesystem>

#include <symbind/symbind.h>

#include "expect.h"

using namespace symbind;

/// 100 points of the plane and which side of a line they are on.
NDArrayIter points() {
  std::vector<float> xy, side;
  for (int i = 0; i < 100; ++i) {
    xy.push_back(static_cast<float>(std::sin(i * 12.9898)));
    xy.push_back(static_cast<float>(std::sin(i * 78.233)));
    side.push_back(xy[xy.size() - 2] > xy.back() ? 1.0F : 0.0F);
  }
  return NDArrayIter(NDArray::from_vector(xy, {100, 2}), NDArray::from_vector(side, {100}),
                     {.batch_size = 20});
}

Symbol network() {
  {  // symbol
    Symbol net = FullyConnected("fc1", Variable("data"), {.num_hidden = 8});
    net = Activation("relu1", net, {.act_type = "relu"});
    net = FullyConnected("fc2", net, {.num_hidden = 2});
    net = SoftmaxOutput("softmax", net);
    return net;
  }
}

void data() {
  const NDArray rows = NDArray::ones({100, 2}), labels = NDArray::zeros({100});
  {  // data
    NDArrayIter train(rows, labels, {.batch_size = 20});
    for (DataBatch batch; train.next(batch);) expect(batch.pad == 0, "a whole batch");
  }
}

void verbs() {
  const Symbol net = network();
  NDArrayIter train = points(), val = points();
  {  // verbs
    Module mod(net, {.context = {cpu()}});
    mod.bind(train.provide_data(), train.provide_label());
    mod.init_params({.initializer = Xavier()});
    mod.init_optimizer({.optimizer = "sgd", .optimizer_params = {{"learning_rate", 0.1}}});
    const MetricPtr metric = create_metric("acc");
    for (DataBatch batch; train.next(batch);) {
      mod.forward(batch, true);
      mod.backward();
      mod.update();
      mod.update_metric(*metric, batch.label);
    }
    std::printf("accuracy %g\n", metric->get().front().second);
    train.reset();
  }
  Module mod(net);
  {  // fit
    mod.fit(train, {.eval_data = &val,
                    .eval_metric = "acc",
                    .batch_end_callback = Speedometer(20, 2),
                    .optimizer = "sgd",
                    .optimizer_params = {{"learning_rate", 0.5}, {"momentum", 0.9}},
                    .initializer = Xavier(),
                    .num_epoch = 5});
  }
  {  // beyond MXNet's
    Module mod(net);
    mod.fit(train,
            {.eval_data = &val,
             .optimizer_params = {{"learning_rate", 0.5}},
             .num_epoch = 2,
             .updates = {
                 .accumulate = 4, .clip_global_norm = 1.0, .ema_decay = 0.999, .eval_ema = true}});
    expect(mod.get_ema_params().size() == 4, "an average of every weight");
  }
  {  // score
    const double accuracy = mod.score(val, "acc").front().second;
    const NDArray rows = mod.predict(val).front();  // all batches, padding dropped
    expect(accuracy > 0.9 && rows.shape() == Shape({100, 2}), "it learned");
  }
  {  // outputs
    DataBatch batch;
    batch.data = {NDArray({1, -1}, {1, 2})};
    mod.forward(batch, false);  // another batch size: the module reshapes
    const NDArray probabilities = mod.get_outputs().front();
    expect(probabilities.at(0).at(1).scalar() > 0.5, "below the line");
  }
  {  // params
    ModelParams params = mod.get_params();
    params.args.at("fc2_bias").set(0.0);
    mod.set_params(params.args, params.aux);
  }
}

void looking_inside() {
  NDArrayIter val = points();
  Module mod(network());
  mod.bind(val.provide_data(), val.provide_label());
  mod.init_params({.initializer = Xavier()});
  profiler::set_config({{"profile_symbolic", "1"}, {"filename", "/tmp/trace.json"}});
  profiler::set_running(true);
  mod.score(val, "acc");
  profiler::dump();
  expect(profiler::dumps({.reset = true}).find("fc1") != std::string::npos, "a row per node");
  explain_to_file(mod.group()->execs()[0], "/tmp/page.html");
}

void checkpoints() {
  const Symbol net = network();
  NDArrayIter train = points();
  const std::string folder =
      (std::filesystem::temp_directory_path() / "symbind-manual").string() + "/";
  std::filesystem::create_directory(folder);
  const std::string prefix = folder + "mlp";
  {  // save
    Module mod(net);
    mod.fit(train, {.epoch_end_callback = do_checkpoint(prefix),
                    .optimizer_params = {{"learning_rate", 0.5}, {"momentum", 0.9}},
                    .num_epoch = 2});
    mod.save_checkpoint(prefix, 2, /*save_optimizer_states=*/true);
  }
  {  // resume
    const auto mod = Module::load(prefix, 2, /*load_optimizer_states=*/true);
    mod->fit(train, {.optimizer_params = {{"learning_rate", 0.5}, {"momentum", 0.9}},
                     .begin_epoch = 2,
                     .num_epoch = 4});
  }
  {  // resume fit
    const Checkpoint saved = load_checkpoint(prefix, checkpoint_epochs(prefix).back());
    Module mod(saved.symbol);
    mod.fit(train,
            {.arg_params = saved.args, .aux_params = saved.aux, .begin_epoch = 2, .num_epoch = 3});
  }
  {  // exact resume
    Module mod(net);
    mod.fit(train, {.optimizer = "adam",
                    .num_epoch = 3,
                    .checkpoint = CheckpointOptions{.prefix = folder + "run", .keep_last = 3},
                    .resume = folder + "run"});
  }
  {  // kept
    Module mod(net);
    NDArray average = NDArray::zeros({4});
    mod.keep_in_checkpoints("average", {[&] {
                                          StateValue state = StateValue::dict();
                                          state.add("weights", StateValue::of(average));
                                          return state;
                                        },
                                        [&](const StateValue& state) {
                                          average = state.array_at("weights", "average");
                                        }});
  }
  {  // predict
    const auto mod = Module::load(prefix, 2);
    mod->bind({{"data", {1, 2}}}, {}, {.for_training = false});
    const NDArray row = mod->predict(NDArray({1, -1}, {1, 2})).front();
    expect(row.shape() == Shape({1, 2}), "one row");
  }
  std::filesystem::remove_all(folder);
}

void devices() {
  const Symbol net = network();
  NDArrayIter train = points();
  {  // devices
    Module mod(net, {.context = {cpu(0), cpu(1)}, .work_load_list = {3, 1}});
    mod.bind(train.provide_data(), train.provide_label());
    for (const BatchSlice& rows : mod.group()->slices())
      std::printf("rows %d to %d\n", static_cast<int>(rows.begin), static_cast<int>(rows.end));
    mod.init_params();
    mod.init_optimizer({.kvstore = "local"});
    expect(mod.update_on_kvstore(), "the store runs the updates");
  }
  {  // kvstore
    const std::shared_ptr<KVStore> store = create_kvstore("local");
    store->init("w", NDArray::zeros({2}));
    store->push("w", {NDArray({1, 2}, {2}), NDArray({10, 20}, {2})});
    NDArray sum({2});
    store->pull("w", {sum});
    expect(sum.to_vector<float>() == std::vector<float>({11, 22}), "added up");
  }
  {  // compression
    const std::shared_ptr<KVStore> store = create_kvstore("device");
    store->set_gradient_compression({{"type", "2bit"}, {"threshold", "0.5"}});
    store->init("w", NDArray::zeros({3}));
    store->push("w", {NDArray({0.7F, 0.4F, -3}, {3}), NDArray({0.7F, 0.4F, 0.1F}, {3})});
    NDArray sum({3});
    store->pull("w", {sum});
    expect(sum.to_vector<float>() == std::vector<float>({1, 0, -0.5F}), "compressed");
  }
}

void buckets() {
  const std::vector<Sentence> sentences = {{1, 2, 3}, {2, 3, 1}, {1, 2, 3, 1, 2}, {3, 1, 2, 3, 1}};
  {  // buckets
    BucketSentenceIter train(sentences, {.batch_size = 2, .buckets = {3, 5}, .invalid_label = 0});
    const auto network = [](std::int64_t length) -> BucketNetwork {
      return {.symbol = models::lstm({.seq_len = static_cast<int>(length),
                                      .vocab_size = 4,
                                      .num_layers = 1,
                                      .num_hidden = 8,
                                      .num_embed = 8})};
    };
    BucketingModule mod(network, train.default_bucket_key());
    mod.fit(train, {.eval_metric = Perplexity(0), .initializer = Xavier(), .num_epoch = 2});
    expect(mod.buckets().size() == 2, "both lengths were seen");
  }
}

void sequential() {
  NDArrayIter train = points();
  {  // sequential
    const auto body = FullyConnected("fc1", Variable("data"), {.num_hidden = 8});
    const auto head =
        SoftmaxOutput("softmax", FullyConnected("fc2", Variable("data"), {.num_hidden = 2}));
    SequentialModule mod;
    mod.add(std::make_shared<Module>(body, ModuleOptions{.label_names = {}}))
        .add(std::make_shared<Module>(head), {.take_labels = true, .auto_wiring = true});
    mod.fit(train, {.initializer = Xavier(), .num_epoch = 1});
  }
}

void parts() {
  const Symbol net = network();
  NDArrayIter train = points(), val = points();
  Module mod(net);
  mod.fit(train, {.num_epoch = 1});
  {  // optimizers
    const auto adam = create_optimizer("adam", {{"learning_rate", 0.01}, {"wd", 1e-4}});
    adam->rescale_grad = 1.0 / 20;                  // Module warns of any other
    adam->set_lr_mult({{Key("fc2_weight"), 2.0}});  // twice the rate for one weight
    const FactorScheduler slower(100, 0.9, 1e-8, {.base_lr = 0.1});
    const OptimizerParams sgd = {{"lr_scheduler", slower}};
    Module(net).fit(train, {.optimizer = adam, .num_epoch = 1});
    mod.init_optimizer({.optimizer = "sgd", .optimizer_params = sgd, .force_init = true});
  }
  {  // initializers
    const InitializerPtr init = Mixed({{".*bias", Zero()}, {".*", Xavier({.magnitude = 2})}});
    mod.init_params({.initializer = init, .force_init = true});
  }
  {  // metrics
    const MetricArg both = {"acc", TopKAccuracy(2)};
    for (const auto& [name, value] : mod.score(val, both))
      std::printf("%s=%f\n", name.c_str(), value);
    const MetricPtr own = make_metric(
        [](const NDArray& label, const NDArray&) { return static_cast<double>(label.size()); },
        "rows");
    expect(mod.score(val, own).front().second == 20, "labels of a batch");
  }
  {  // monitor
    Monitor monitor(2, {.pattern = "fc1_.*"});
    mod.fit(train, {.num_epoch = 1, .monitor = &monitor});
  }
  {  // errors
    try {
      create_optimizer("sdg");
    } catch (const Error& e) {
      expect(e.kind() == ErrorKind::kName, e.what());
    }
  }
  {  // log
    std::vector<std::string> lines;
    set_log_sink([&lines](LogLevel, std::string_view line) { lines.emplace_back(line); });
    train.reset();
    mod.fit(train, {.num_epoch = 1});
    set_log_sink({});
  }
}

void questions() {
  const Symbol net = network();
  {  // grad_req
    Executor e = net.simple_bind(cpu(), {{"data", {1, 2}}}, {.grad_req = "add"});
    const NDArray bias = e.grad_dict().at("fc2_bias");
    e.forward(true);
    e.backward();
    const double once = bias.at(0).scalar();
    e.forward(true);
    e.backward();
    expect(bias.at(0).scalar() == 2 * once, "two gradients, added");
  }
  {  // simple_bind
    const Executor e = net.simple_bind(cpu(), {{"data", {4, 2}}});
    expect(e.arg_dict().at("fc1_weight").shape() == Shape({8, 2}), "inferred");
    std::printf("%s\n%zu bytes for intermediates\n", e.plan_text().c_str(), e.stats().arena_bytes);
  }
  {  // aux
    const Symbol norm = BatchNorm("bn", Variable("data"));
    Executor e = norm.bind(cpu(),
                           NDArrayMap{{"data", NDArray::ones({2, 3})},
                                      {"bn_gamma", NDArray::ones({3})},
                                      {"bn_beta", NDArray::zeros({3})}},
                           {.grad_req = "null",
                            .aux_states = NDArrayMap{{"bn_moving_mean", NDArray::zeros({3})},
                                                     {"bn_moving_var", NDArray::ones({3})}}});
    e.aux_dict().at("bn_moving_mean").set(1.0);
    expect(e.forward(false)[0].at(0).at(0).scalar() == 0, "1 minus the mean");
  }
  {  // input gradients
    Module mod(net);
    mod.bind({{"data", {4, 2}}}, Shapes{{"softmax_label", {4}}}, {.inputs_need_grad = true});
    mod.init_params();
    DataBatch batch;
    batch.data = {NDArray::ones({4, 2})};
    batch.label = {NDArray::zeros({4})};
    mod.forward(batch, true);
    mod.backward();
    expect(mod.get_input_grads().front().shape() == Shape({4, 2}), "asked for");
  }
  {  // same arrays
    Module mod(net);
    mod.bind({{"data", {4, 2}}}, Shapes{{"softmax_label", {4}}});
    mod.init_params({.initializer = Xavier()});
    const NDArray grad = mod.group()->grad_arrays()[3][0];  // fc2_bias on the first device
    DataBatch batch;
    batch.data = {NDArray::ones({4, 2})};
    batch.label = {NDArray::zeros({4})};
    mod.forward(batch, true);
    mod.backward();
    expect(grad.aliases(mod.group()->execs()[0].grad_dict().at("fc2_bias")), "one memory");
    expect(grad.at(0).scalar() != 0, "and backward wrote it");
  }
}

int main() {
  seed(1);
  data();
  verbs();
  looking_inside();
  checkpoints();
  devices();
  buckets();
  sequential();
  parts();
  questions();
}
