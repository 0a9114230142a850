package io.ordertimeout.it.safeguard;

import io.ordertimeout.it.support.Interceptors;
import io.ordertimeout.it.support.KafkaAdmin;
import io.ordertimeout.it.support.Scenario;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.aopalliance.intercept.MethodInvocation;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;

/**
 * The two steps of a question for the payment watermark: the service reads the time from Postgres,
 * then it asks Kafka where the topics end. Without {@link Safeguard#TIME_BEFORE_ENDS}, it takes the
 * steps in the opposite order. In between, the test can stop it.
 */
final class WatermarkQuestion {

  private static final String THREAD = "payment-watermark";

  private final Scenario scenario;
  private final Supplier<SafeguardRemover> safeguards;
  private final Barrier betweenSteps = new Barrier();
  private volatile boolean exact;

  // Confined to the thread that asks.
  private boolean begun;
  private @Nullable ListOffsetsResult ends;

  WatermarkQuestion(Scenario scenario, Supplier<SafeguardRemover> safeguards) {
    this.scenario = scenario;
    this.safeguards = safeguards;
  }

  /** The interceptors, to be installed around that of a {@link ServiceClock}. */
  List<BeanPostProcessor> interceptors() {
    return List.of(
        StatementInterceptor.rewriting(this::onStatement),
        Interceptors.beans(Admin.class, this::onAdmin));
  }

  Barrier betweenSteps() {
    return betweenSteps;
  }

  /** Has the time of the watermark read exactly, wherever the {@link ServiceClock} is. */
  void readTimeExactly(boolean exactly) {
    exact = exactly;
  }

  private String onStatement(String sql) {
    if (!sql.strip().equals(ServiceClock.TIME) || begun || !isAsking()) {
      return sql;
    }
    begun = true;
    if (safeguards.get().isRemoved(Safeguard.TIME_BEFORE_ENDS)) {
      ends = askForEnds();
      passBetweenSteps();
    }
    // With a name, it is none of the statements that the service's clock changes.
    return exact ? sql + " as exact" : sql;
  }

  private @Nullable Object onAdmin(MethodInvocation call) throws Throwable {
    if (!call.getMethod().getName().equals("listOffsets") || !isAsking()) {
      return call.proceed();
    }
    begun = false;
    ListOffsetsResult earlier = ends;
    ends = null;
    if (earlier != null) {
      return earlier;
    }
    passBetweenSteps();
    return call.proceed();
  }

  private ListOffsetsResult askForEnds() {
    Map<TopicPartition, OffsetSpec> settling =
        scenario.allPartitions().stream()
            .filter(
                partition ->
                    List.of(scenario.topics().paid(), scenario.topics().closed())
                        .contains(partition.topic()))
            .collect(Collectors.toMap(Function.identity(), partition -> OffsetSpec.latest()));
    ListOffsetsResult answer =
        scenario
            .kafka()
            .client()
            .listOffsets(settling, new ListOffsetsOptions(IsolationLevel.READ_UNCOMMITTED));
    KafkaAdmin.get(answer.all());
    return answer;
  }

  private void passBetweenSteps() {
    try {
      betweenSteps.pass();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private static boolean isAsking() {
    return Thread.currentThread().getName().equals(THREAD);
  }
}
