package io.ordertimeout.orders.benchmarks.contender;

import io.ordertimeout.orders.benchmarks.servers.ChildJvm;
import java.util.List;

/** Several instances of the order service that share their shop's shards. */
public final class Instances implements Contender {

  private final List<OrderTimeout> instances;

  public Instances(List<OrderTimeout> instances) {
    this.instances = List.copyOf(instances);
  }

  @Override
  public void start() {
    instances.forEach(OrderTimeout::start);
  }

  @Override
  public List<ChildJvm> processes() {
    return instances.stream().flatMap(each -> each.processes().stream()).toList();
  }

  @Override
  public void close() {
    instances.forEach(OrderTimeout::close);
  }
}
