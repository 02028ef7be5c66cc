#include "job/text_rules.h"

namespace cephmark {

namespace {

unsigned char byte_at(std::string_view text, size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool is_control(unsigned char byte) {
  return (byte < 0x20 && byte != '\t') || byte == 0x7F;
}

/// Bytes of the character that begins with `lead`; 0: no character does.
size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

/// What the second byte must be beyond a continuation: nothing too long, no surrogates, nothing
/// above U+10FFFF, no control characters.
bool second_is_good(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xC2:
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second < 0xA0;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second < 0x90;
    default:
      return true;
  }
}

}  // namespace

size_t plain_text_length(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const unsigned char lead = byte_at(text, at);
    const size_t length = length_of(lead);
    if (length == 0 || at + length > text.size() || is_control(lead)) return at;
    for (size_t k = 1; k < length; ++k)
      if ((byte_at(text, at + k) & 0xC0) != 0x80) return at;
    if (length > 1 && !second_is_good(lead, byte_at(text, at + 1))) return at;
    at += length;
  }
  return at;
}

}  // namespace cephmark
