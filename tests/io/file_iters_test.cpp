#include <gtest/gtest.h>
#include <zlib.h>

#include <set>

#include <symbind/io.h>

#include "io/files.h"
#include "support/capture_log.h"

namespace symbind {
namespace {

using nlohmann::json;

std::string text_of(const CaptureLog& log) {
  std::string text;
  for (const std::string& line : log.lines()) text += line + "\n";
  return text;
}

void flatten(const json& value, std::vector<json>& out) {
  if (!value.is_array()) return out.push_back(value);
  for (const json& part : value) flatten(part, out);
}

template <class T>
void expect_values(const NDArray& array, const json& wanted) {
  std::vector<json> values;
  flatten(wanted, values);
  const std::vector<T> got = array.to_vector<T>();
  ASSERT_EQ(got.size(), values.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], values[i].get<T>());
}

void expect_equal(const NDArray& array, const json& wanted) {
  if (array.dtype() == DType::kInt64)
    expect_values<std::int64_t>(array, wanted);
  else
    expect_values<float>(array, wanted);
}

TEST(GoldenFileIters, batches_are_mxnets) {
  int cases = 0;
  for (const json& recorded : recorded_values("files.json")) {
    SCOPED_TRACE(recorded["iter"].get<std::string>() + recorded["options"].dump());
    ++cases;
    std::vector<std::unique_ptr<TemporaryFile>> files;
    AttrDict options = recorded["options"].get<AttrDict>();
    for (const auto& [key, hex] : recorded["files"].items()) {
      files.push_back(std::make_unique<TemporaryFile>(from_hex(hex)));
      options[key] = files.back()->path();
    }
    const auto iter = create_iter(recorded["iter"].get<std::string>(), options);
    EXPECT_EQ(iter->provide_data()[0].str(), recorded["provide_data"].get<std::string>());
    EXPECT_EQ(iter->provide_label()[0].str(), recorded["provide_label"].get<std::string>());
    DataBatch batch;
    for (const json& epoch : recorded["epochs"]) {
      for (const json& wanted : epoch) {
        ASSERT_TRUE(iter->next(batch));
        expect_equal(batch.data[0], wanted["data"]);
        expect_equal(batch.label[0], wanted["label"]);
        EXPECT_EQ(batch.pad, wanted["pad"].get<int>());
        if (wanted.contains("index")) {
          EXPECT_EQ(batch.index, wanted["index"].get<std::vector<std::int64_t>>());
        }
      }
      EXPECT_FALSE(iter->next(batch));
      iter->reset();
    }
  }
  EXPECT_EQ(cases, 14);
}

// Files are read in pieces; rows and numbers lie across their borders, and a row is longer than
// one.
TEST(FileIters, rows_across_the_pieces_in_which_a_file_is_read) {
  const auto value = [](std::int64_t row, std::int64_t column) {
    return static_cast<float>((row * 7919 + column * 104729) % 1000003) / 8;
  };
  for (const std::int64_t columns : {3, 20000}) {
    const std::int64_t rows = columns == 3 ? 9000 : 5;
    std::string csv, libsvm;
    for (std::int64_t r = 0; r < rows; ++r) {
      libsvm += fmt::format("{}", r);
      for (std::int64_t c = 0; c < columns; ++c) {
        csv += fmt::format("{}{:.3f}", c ? "," : "", value(r, c));
        libsvm += fmt::format(" {}:{:.3f}", c, value(r, c));
      }
      csv += "\n";
      libsvm += "\n";
    }
    ASSERT_GT(csv.size(), 3U << 16);
    const TemporaryFile csv_file(csv), libsvm_file(libsvm);
    const std::string shape = fmt::format("({},)", columns);
    for (const auto& [name, key, path] :
         {std::tuple("CSVIter", "data_csv", csv_file.path()),
          std::tuple("LibSVMIter", "data_libsvm", libsvm_file.path())}) {
      const auto iter =
          create_iter(name, {{key, path}, {"data_shape", shape}, {"batch_size", "5"}});
      DataBatch batch;
      std::int64_t row = 0;
      while (iter->next(batch)) {
        const std::vector<float> got = batch.data[0].to_vector<float>();
        for (std::int64_t r = 0; r < 5; ++r, ++row)
          for (std::int64_t c = 0; c < columns; ++c)
            ASSERT_EQ(got[static_cast<std::size_t>(r * columns + c)], value(row, c))
                << name << " row " << row << " column " << c;
      }
      EXPECT_EQ(row, rows) << name;
    }
  }
}

TEST(FileIters, reset_in_the_middle_begins_at_the_first_row) {
  const TemporaryFile csv("0\n1\n2\n3\n4\n");
  for (int i = 0; i < 20; ++i) {
    const auto iter = create_iter(
        "CSVIter", {{"data_csv", csv.path()}, {"data_shape", "(1,)"}, {"batch_size", "2"}});
    DataBatch batch;
    ASSERT_TRUE(iter->next(batch));
    iter->reset();
    ASSERT_TRUE(iter->next(batch));
    EXPECT_EQ(batch.data[0].to_vector<int>(), (std::vector<int>{0, 1}));
  }
}

TEST(CSVIter, forms_of_text) {
  const TemporaryFile csv("\xEF\xBB\xBF 1 ,\t2,\r\n\n+3,4e1\r\n5,1e50");
  CSVIter iter({.data_csv = csv.path(), .data_shape = {2}, .batch_size = 3});
  DataBatch batch;
  ASSERT_TRUE(iter.next(batch));
  EXPECT_EQ(batch.data[0].to_vector<float>(),
            (std::vector<float>{1, 2, 3, 40, 5, std::numeric_limits<float>::infinity()}));
}

TEST(CSVIter, without_labels_their_shape_is_one_number) {  // as in MXNet, whatever label_shape says
  const TemporaryFile csv("1\n");
  const CSVIter iter(
      {.data_csv = csv.path(), .data_shape = {1}, .label_shape = {3}, .batch_size = 1});
  EXPECT_EQ(iter.provide_label()[0].shape, (Shape{1}));
}

TEST(CSVIter, several_files_and_folders) {
  const TemporaryFile a("1\n2\n"), b("3\n");
  CSVIter two({.data_csv = a.path() + ";" + b.path(), .data_shape = {1}, .batch_size = 3});
  DataBatch batch;
  ASSERT_TRUE(two.next(batch));
  EXPECT_EQ(batch.data[0].to_vector<int>(), (std::vector<int>{1, 2, 3}));
  const std::string folder = a.path() + "-folder";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/2.csv") << "8\n";
  std::ofstream(folder + "/1.csv") << "7\n";
  CSVIter all({.data_csv = folder, .data_shape = {1}, .batch_size = 2});
  ASSERT_TRUE(all.next(batch));
  EXPECT_EQ(batch.data[0].to_vector<int>(), (std::vector<int>{7, 8}));
  std::filesystem::remove_all(folder);
}

TEST(CSVIter, lines_longer_than_a_buffer) {
  std::string line;
  for (int i = 0; i < 600'000; ++i) line += fmt::format("{},", i % 100);
  const TemporaryFile csv(line + "\n" + line + "\n");
  CSVIter iter({.data_csv = csv.path(), .data_shape = {600'000}, .batch_size = 2});
  DataBatch batch;
  ASSERT_TRUE(iter.next(batch));
  EXPECT_EQ(batch.data[0].at(1).slice(599'999, 600'000).scalar(), 99);
}

TEST(LibSVMIter, every_line_is_in_one_part) {
  std::string text;
  for (int i = 0; i < 50; ++i) text += fmt::format("{} 0:{}\n", i, std::string(i % 7 + 1, '1'));
  const TemporaryFile svm(text);
  for (int parts = 1; parts < 12; ++parts) {
    std::multiset<int> seen;
    for (int part = 0; part < parts; ++part) {
      LibSVMIter iter({.data_libsvm = svm.path(),
                       .data_shape = {1},
                       .batch_size = 1,
                       .num_parts = parts,
                       .part_index = part});
      for (DataBatch batch; iter.next(batch);)
        seen.insert(static_cast<int>(batch.label[0].scalar()));
    }
    EXPECT_EQ(seen.size(), 50U) << parts;
    EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), 50U) << parts;
  }
}

std::string idx(std::initializer_list<unsigned char> dims, const std::string& bytes) {
  std::string text = {0, 0, 8, static_cast<char>(dims.size())};
  for (const unsigned char d : dims) text += std::string(3, '\0') + static_cast<char>(d);
  return text + bytes;
}

TEST(MNISTIter, logs_what_it_loaded) {
  const TemporaryFile images(idx({2, 1, 2}, "abcd")), labels(idx({2}, "\1\2"));
  const CaptureLog log;
  const MNISTIter iter({.image = images.path(), .label = labels.path(), .batch_size = 2});
  EXPECT_NE(text_of(log).find("MNISTIter: load 2 images, shuffle=1, shape=(2, 1, 1, 2)"),
            std::string::npos)
      << text_of(log);
}

TEST(BadInputMNISTIter, says_which_file) {
  const TemporaryFile images(idx({2, 1, 2}, "abcd")), labels(idx({3}, "\1\2\3"));
  const auto open = [&](MNISTIterOptions o) { const MNISTIter iter(o); };
  expect_error(
      ErrorKind::kIo, [&] { open({.image = "/nowhere/i", .label = labels.path()}); }, "/nowhere/i");
  expect_error(
      ErrorKind::kValue,
      [&] { open({.image = images.path(), .label = labels.path(), .batch_size = 1}); }, "2 images",
      "3 labels");
  expect_error(
      ErrorKind::kIo, [&] { open({.image = labels.path(), .label = labels.path()}); },
      "not a file of images", "(3,)");
  const TemporaryFile two(idx({2}, "\1\2"));
  expect_error(
      ErrorKind::kValue, [&] { open({.image = images.path(), .label = two.path()}); },
      "do not fill a batch of 128");
  expect_error(
      ErrorKind::kValue,
      [&] { open({.image = images.path(), .label = two.path(), .num_parts = 2, .part_index = 2}); },
      "part_index is 2 and num_parts is 2");
}

void read_csv(const std::string& text, const Tuple& shape, DType dtype = DType::kFloat32,
              std::int64_t batch_size = 1) {
  const TemporaryFile csv(text);
  CSVIter iter(
      {.data_csv = csv.path(), .data_shape = shape, .batch_size = batch_size, .dtype = dtype});
  for (DataBatch batch; iter.next(batch);) {
  }
}

TEST(BadInputCSVIter, file_and_line_are_named) {
  const auto bad = [](const std::string& text, DType dtype, const auto&... parts) {
    expect_error(
        ErrorKind::kIo, [&] { read_csv(text, {2}, dtype); }, parts...);
  };
  bad("1,2\n1,two\n", DType::kFloat32, "io-",
      ", line 2: column 2: 'two' is not a number of type float32");
  bad("a,b\n1,2\n", DType::kFloat32, ", line 1: column 1: 'a'");
  bad("1,,2\n", DType::kFloat32, ", line 1: column 2: ''");
  bad("1,2\n\n1,2,3\n", DType::kFloat32, ", line 3: 3 columns, but the shape needs 2");
  bad("1\n", DType::kFloat32, ", line 1: 1 columns");
  bad("1,2.5\n", DType::kInt32, "'2.5' is not a number of type int32");
  bad("1,2147483648\n", DType::kInt32, "'2147483648'");
  bad("", DType::kFloat32, "no rows");
  bad("\n \n", DType::kFloat32, "no rows");
}

TEST(BadInputCSVIter, options_and_files) {
  expect_error(
      ErrorKind::kValue, [] { read_csv("1\n2\n", {1}, DType::kFloat32, 5); }, "2 rows",
      "batch of 5");
  expect_error(
      ErrorKind::kType, [] { read_csv("1\n", {1}, DType::kFloat64); }, "float64");
  expect_error(
      ErrorKind::kValue, [] { read_csv("1\n", {0}); }, "(1, 0)", "positive");
  expect_error(
      ErrorKind::kIo,
      [] { CSVIter({.data_csv = "/nowhere.csv", .data_shape = {1}, .batch_size = 1}); },
      "/nowhere.csv", "No such file");
  const TemporaryFile data("1\n2\n"), labels("1\n");
  CSVIter iter(
      {.data_csv = data.path(), .data_shape = {1}, .label_csv = labels.path(), .batch_size = 2});
  DataBatch batch;
  expect_error(
      ErrorKind::kIo, [&] { iter.next(batch); }, labels.path(), "no label left");
}

TEST(BadInputLibSVMIter, file_and_line_are_named) {
  const auto bad = [](const std::string& text, const auto&... parts) {
    const TemporaryFile svm(text);
    LibSVMIter iter({.data_libsvm = svm.path(), .data_shape = {3}, .batch_size = 2});
    DataBatch batch;
    expect_error(
        ErrorKind::kIo, [&] { iter.next(batch); }, svm.path(), parts...);
  };
  bad("1 0:1\n2 -1:0.5\n", "line 2", "index -1");
  bad("1 3:1\n", "line 1", "index 3", "0 to 2");
  bad("1 99999999999999999999:1\n", "line 1");
  bad("1 0:x\n", "'0:x' is not of the form");
  bad("1 5\n", "'5' is not of the form");
  bad("one 0:1\n", "label 'one'");
  bad("1 1:1 0:2\n", "ascend");
  bad("", "no rows");
}

TEST(BadInputLibSVMIter, options) {
  const TemporaryFile svm("1 0:1\n");
  const auto make = [&](LibSVMIterOptions o) {
    o.data_libsvm = svm.path();
    o.batch_size = 1;
    const LibSVMIter iter(o);
  };
  expect_error(
      ErrorKind::kShape,
      [&] {
        make({.data_shape = {3, 2}});
      },
      "data_shape", "(3, 2)");
  expect_error(
      ErrorKind::kShape, [&] { make({.data_shape = {3}, .label_shape = {2}}); }, "(1,)");
  expect_error(
      ErrorKind::kShape, [&] { make({.data_shape = {3}, .label_libsvm = svm.path()}); }, "n > 1");
  expect_error(
      ErrorKind::kNotImplemented, [&] { make({.data_shape = {3}, .round_batch = false}); },
      "round_batch");
  expect_error(
      ErrorKind::kValue, [&] { make({.data_shape = {3}, .num_parts = 2, .part_index = 2}); },
      "part_index is 2");
}

TEST(BadInputCreateIter, names_and_options) {
  expect_error(
      ErrorKind::kName, [] { create_iter("CsvIter", {}); }, "CsvIter", "CSVIter");
  expect_error(
      ErrorKind::kValue, [] { create_iter("CSVIter", {}); }, "data_csv is required");
  const TemporaryFile csv("1\n");
  const CaptureLog log;
  expect_error(
      ErrorKind::kValue,
      [&] {
        create_iter("CSVIter",
                    {{"data_csv", csv.path()}, {"data_shape", "(1,)"}, {"batchsize", "1"}});
      },
      "batch_size is required");
  create_iter("CSVIter", {{"data_csv", csv.path()},
                          {"data_shape", "(1,)"},
                          {"batch_size", "1"},
                          {"round_bach", "0"},
                          {"something_else", "0"}});
  EXPECT_NE(text_of(log).find("round_batch"), std::string::npos) << text_of(log);
  EXPECT_EQ(text_of(log).find("something_else"), std::string::npos) << text_of(log);
}

}  // namespace
}  // namespace symbind
