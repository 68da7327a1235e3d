// The page of show_mnist: learning curves, and for each class pictures with what the last network
// predicts. One HTML file without scripts; the pictures are PNG data inside it.
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using Curve = std::vector<std::pair<double, double>>;  ///< epochs, accuracy

struct Network {
  std::string name;
  Curve train, test;
  double accuracy = 0;             ///< over all test pictures
  std::vector<int> predicted;      ///< the class of each test picture
  std::vector<float> probability;  ///< of that class
};

/// The test pictures, 28 by 28 bytes each.
struct Pictures {
  std::string set;
  std::vector<std::string> classes;
  std::vector<std::uint8_t> pixels, labels;
};

/// What the axes of the curves show: 0 to `epochs`, `lowest` to 1.
struct Frame {
  double epochs = 1, lowest = 1;
};

inline Frame frame_of(const std::vector<Network>& networks) {
  Frame frame;
  for (const Network& n : networks)
    for (const Curve* curve : {&n.train, &n.test})
      for (const auto& [x, y] : *curve) {
        frame.epochs = std::max(frame.epochs, x);
        frame.lowest = std::min(frame.lowest, y);
      }
  frame.lowest = std::max(0, static_cast<int>(frame.lowest * 10 - 0.5)) / 10.0;
  return frame;
}

namespace page {

template <class... Args>
std::string text(const char* format, Args... args) {
  char buffer[512];
  const int length = std::snprintf(buffer, sizeof(buffer), format, args...);
  return std::string(buffer, static_cast<std::size_t>(std::clamp(length, 0, 511)));
}

inline std::string base64(const std::string& bytes) {
  constexpr const char* kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0);
    for (std::size_t k = 0; k < 4; ++k)
      result += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return result;
}

inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

inline std::string png_chunk(const std::string& type_and_data) {
  const auto* bytes = reinterpret_cast<const Bytef*>(type_and_data.data());
  const uLong sum = crc32(0, bytes, static_cast<uInt>(type_and_data.size()));
  return big_endian(static_cast<std::uint32_t>(type_and_data.size() - 4)) + type_and_data +
         big_endian(static_cast<std::uint32_t>(sum));
}

/// A grey PNG picture of `side` by `side` bytes.
inline std::string png(const std::uint8_t* pixels, std::uint32_t side) {
  std::string rows;
  for (std::uint32_t y = 0; y < side; ++y) {
    rows += '\0';  // the row is not filtered
    rows.append(reinterpret_cast<const char*>(pixels + y * side), side);
  }
  uLongf length = compressBound(rows.size());
  std::string packed(length, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &length,
               reinterpret_cast<const Bytef*>(rows.data()), rows.size()) != Z_OK)
    throw std::runtime_error("zlib could not compress a picture");
  packed.resize(length);
  const std::string grey_8_bits = {8, 0, 0, 0, 0};
  return "\x89PNG\r\n\x1a\n" +
         png_chunk("IHDR" + big_endian(side) + big_endian(side) + grey_8_bits) +
         png_chunk("IDAT" + packed) + png_chunk("IEND");
}

/// The learning curves: lines while training, dots on the test pictures.
inline std::string curves(const std::vector<Network>& networks) {
  constexpr int kLeft = 50, kTop = 10, kWidth = 640, kHeight = 260;
  constexpr const char* kColours[] = {"#2563eb", "#d9480f", "#2b8a3e", "#862e9c"};
  const Frame frame = frame_of(networks);
  const auto at_x = [&](double x) { return kLeft + kWidth * x / frame.epochs; };
  const auto at_y = [&](double y) { return kTop + kHeight * (1 - y) / (1 - frame.lowest); };
  std::string svg = text("<svg viewBox='0 0 %d %d' role='img' aria-label='accuracy by epoch'>\n",
                         kLeft + kWidth + 60, kTop + kHeight + 50);
  const int lowest = static_cast<int>(frame.lowest * 10 + 0.5);
  for (int tenth = lowest; tenth <= 10; ++tenth)
    svg += text(
        "<path class='grid' d='M%d %.1fh%d'/><text x='%d' y='%.1f' text-anchor='end'>%.1f</text>\n",
        kLeft, at_y(tenth / 10.0), kWidth, kLeft - 8, at_y(tenth / 10.0) + 4, tenth / 10.0);
  for (int epoch = 0; epoch <= static_cast<int>(frame.epochs); ++epoch)
    svg += text("<text x='%.1f' y='%d' text-anchor='middle'>%d</text>\n", at_x(epoch),
                kTop + kHeight + 20, epoch);
  svg += text("<text x='%d' y='%d' text-anchor='middle'>epochs</text>\n", kLeft + kWidth / 2,
              kTop + kHeight + 42);
  for (std::size_t k = 0; k < networks.size(); ++k) {
    const char* colour = kColours[k % std::size(kColours)];
    std::string line;
    for (const auto& [x, y] : networks[k].train)
      line += text("%s%.1f %.1f", line.empty() ? "M" : "L", at_x(x), at_y(y));
    svg += text("<path fill='none' stroke='%s' stroke-width='2' d='", colour) + line + "'/>\n";
    for (const auto& [x, y] : networks[k].test)
      svg += text(
          "<circle cx='%.1f' cy='%.1f' r='5' fill='%s'><title>%s, test, after epoch %.0f: "
          "%.4f</title></circle>\n",
          at_x(x), at_y(y), colour, networks[k].name.c_str(), x, y);
    svg += text(
        "<rect x='%d' y='%d' width='14' height='4' fill='%s'/><text x='%d' y='%d'>%s: "
        "%.4f</text>\n",
        kLeft + kWidth - 150, kTop + kHeight - 50 + 22 * static_cast<int>(k), colour,
        kLeft + kWidth - 130, kTop + kHeight - 44 + 22 * static_cast<int>(k),
        networks[k].name.c_str(), networks[k].accuracy);
  }
  return svg + "</svg>\n";
}

/// One row of the table: the class, how often it was found, its first pictures with predictions.
inline std::string class_row(const Pictures& pictures, const Network& network, int wanted) {
  constexpr std::size_t kShown = 8, kSide = 28;
  std::size_t all = 0, right = 0;
  std::string cells;
  for (std::size_t i = 0; i < network.predicted.size(); ++i) {
    if (pictures.labels[i] != wanted) continue;
    const bool is_right = network.predicted[i] == wanted;
    right += is_right;
    if (++all > kShown) continue;
    const std::string& said = pictures.classes.at(static_cast<std::size_t>(network.predicted[i]));
    cells +=
        text("<td%s><img alt='%s' src='data:image/png;base64,", is_right ? "" : " class='wrong'",
             pictures.classes[static_cast<std::size_t>(wanted)].c_str()) +
        base64(png(pictures.pixels.data() + i * kSide * kSide, kSide)) +
        text("'><br>%s%s<br><small>%.0f %%</small></td>", is_right ? "" : "✗ ", said.c_str(),
             100.0 * network.probability[i]);
  }
  return text("<tr><th>%s<br><small>%zu of %zu right</small></th>",
              pictures.classes[static_cast<std::size_t>(wanted)].c_str(), right, all) +
         cells + "</tr>\n";
}

constexpr const char* kStyle = R"(
:root { color-scheme: light dark }
body { font: 15px/1.4 system-ui, sans-serif; max-width: 860px; margin: 2em auto; padding: 0 1em }
svg { width: 100%; height: auto } svg text { font-size: 13px; fill: currentColor }
.grid { stroke: currentColor; opacity: .15 }
table { border-collapse: collapse; width: 100% } tr { border-top: 1px solid #8884 }
th { text-align: left; padding-right: 1em } td { text-align: center; font-size: 12px; padding: 6px 3px }
img { width: 56px; height: 56px; image-rendering: pixelated; border-radius: 3px }
small { opacity: .7; font-weight: normal } .wrong { color: #d6336c } .wrong img { outline: 2px solid #d6336c })";

}  // namespace page

/// The whole page. The pictures show what the last network predicts.
inline std::string result_page(const Pictures& pictures, const std::vector<Network>& networks) {
  const Network& last = networks.back();
  std::string html = "<!doctype html>\n<html lang='en'>\n<head><meta charset='utf-8'>" +
                     std::string("<title>Symbind quickstart</title>\n<style>") + page::kStyle +
                     "\n</style></head>\n<body>\n<h1>What the networks have learned</h1>\n";
  html += page::text("<p>Data set: %s, %zu test pictures of ten classes.</p>\n",
                     pictures.set.c_str(), last.predicted.size());
  html += "<h2>Learning curves</h2>\n" + page::curves(networks) +
          "<p>Lines: accuracy on the training pictures. Dots: accuracy on the test pictures after "
          "each epoch.</p>\n";
  html += page::text("<h2>The ten classes and what %s predicts</h2>\n", last.name.c_str());
  html +=
      "<p>The first test pictures of each class, with the prediction and its probability. Wrong "
      "ones are marked with ✗.</p>\n<table>\n";
  for (std::size_t c = 0; c < pictures.classes.size(); ++c)
    html += page::class_row(pictures, last, static_cast<int>(c));
  return html + "</table>\n</body>\n</html>\n";
}
