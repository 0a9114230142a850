package io.ordertimeout.it.oracle;

import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The topic, partition and offset of a record in Kafka. */
record RecordPosition(String topic, int partition, long offset) {

  static RecordPosition of(ConsumerRecord<?, ?> record) {
    return new RecordPosition(record.topic(), record.partition(), record.offset());
  }

  @Override
  public String toString() {
    return topic + "-" + partition + "@" + offset;
  }
}
