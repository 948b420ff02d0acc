#include "serve/publish/broker.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace millrace::serve {
namespace {

TEST(Broker, is_a_host_and_a_topic) {
  const Broker broker = read_broker("localhost/street/left", "mqtt");
  EXPECT_EQ(broker.host, "localhost");
  EXPECT_EQ(broker.port, 1883);
  EXPECT_EQ(broker.topic, "street/left");
  EXPECT_TRUE(broker.user.empty());
}

TEST(Broker, may_have_a_port_a_user_and_a_password) {
  const Broker broker = read_broker("mqtt://me:s:e@cret@10.0.0.2:1884/a/b", "mqtt");
  EXPECT_EQ(broker.host, "10.0.0.2");
  EXPECT_EQ(broker.port, 1884);
  EXPECT_EQ(broker.topic, "a/b");
  EXPECT_EQ(broker.user, "me");
  EXPECT_EQ(broker.password, "s:e@cret");
  EXPECT_EQ(to_text(broker), "10.0.0.2:1884/a/b");
  EXPECT_EQ(read_broker("me@host/t@x", "mqtt").user, "me");
  EXPECT_EQ(read_broker("host/t@x", "mqtt").topic, "t@x");
}

TEST(Broker, refuses_what_it_cannot_be) {
  for (const char* text : {"", "localhost", "localhost/", "/topic", "mqtts://host/topic",
                           "host/a/#", "host/+/b", "host:port/topic"})
    EXPECT_THROW(read_broker(text, "mqtt"), InputError) << text;
}

TEST(Broker, shows_no_password) {
  try {
    read_broker("mqtts://me:hidden@host/topic", "mqtt");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("hidden"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace millrace::serve
