package io.ordertimeout.it.traffic;

import io.ordertimeout.it.oracle.DeadLetters;
import io.ordertimeout.it.support.Shop;
import io.ordertimeout.it.support.TopicNames;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Records of which no event can be made, marked as such for the ledger alone. */
final class Garbage {

  private static final List<String> ANYWHERE =
      List.of(
          "", "no JSON", "[1,2]", "{\"orderId\":", "{\"paymentId\":\"p1\"}", "{\"orderId\":17}");

  private static final List<String> CREATED =
      List.of(
          "{\"orderId\":\"%s\",\"timeout\":\"-PT1S\"}",
          "{\"orderId\":\"%s\",\"timeout\":\"soon\"}",
          "{\"orderId\":\"another\",\"timeout\":\"PT5S\"}");

  private Garbage() {}

  static ProducerRecord<byte[], byte[]> record(
      RandomGenerator random, TopicNames topics, String orderId) {
    String topic = topics.inputs().get(random.nextInt(topics.inputs().size()));
    List<String> values =
        topic.equals(topics.created()) && random.nextBoolean() ? CREATED : ANYWHERE;
    String value = values.get(random.nextInt(values.size())).formatted(orderId);
    // Under an order's key it would put that order in doubt, and rightly keep it pending.
    String key = topic.equals(topics.created()) ? orderId : "nobody's";
    ProducerRecord<byte[], byte[]> record =
        new ProducerRecord<>(topic, Shop.utf8(key), Shop.utf8(value));
    record.headers().add(DeadLetters.GARBAGE, Shop.utf8("yes"));
    return record;
  }
}
