#include "ceph/object_name.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cephmark {
namespace {

TEST(ObjectName, IsReadAsItWasWritten) {
  for (const auto& [name, text] : std::initializer_list<std::pair<ObjectName, std::string>>{
           {{"rbd", "", "j.0.0"}, "rbd/j.0.0"},
           {{"rbd", "space", "j.0.0"}, "rbd/space/j.0.0"},
           {{"rbd", "", "d/j.0.0"}, "rbd//d/j.0.0"},
           {{"rbd", "space", "d/j@1"}, "rbd/space/d/j@1"}}) {
    EXPECT_EQ(name.text(), text);
    const ObjectName back = parse_object_name(text);
    EXPECT_EQ(back.pool, name.pool) << text;
    EXPECT_EQ(back.rados_namespace, name.rados_namespace) << text;
    EXPECT_EQ(back.object, name.object) << text;
  }
  for (const char* wrong : {"", "rbd", "rbd/", "/x", "rbd//"})
    EXPECT_THROW(parse_object_name(wrong), Error) << wrong;
}

}  // namespace
}  // namespace cephmark
