package io.ordertimeout.orders.benchmarks.contender;

import static org.jobrunr.server.BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.jobrunr.configuration.JobRunr;
import org.jobrunr.configuration.JobRunrConfiguration;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.scheduling.BackgroundJobRequest;
import org.jobrunr.scheduling.JobBuilder;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageException;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.gson.GsonJsonMapper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** JobRunr with one scheduled job for each order, at its shortest interval of polling. */
final class JobRunrScheduler implements TimeoutScheduler {

  private static final Logger log = LoggerFactory.getLogger(JobRunrScheduler.class);
  private static final int POLL_SECONDS = 5;

  private final JobRunrConfiguration configuration;

  JobRunrScheduler(DataSource dataSource, ShopOrders orders) {
    JobActivator activator =
        new JobActivator() {
          @Override
          public <T> T activateJob(Class<T> type) {
            return type.cast(new ExpireOrderHandler(orders));
          }
        };
    configuration =
        JobRunr.configure()
            .useJsonMapper(new GsonJsonMapper())
            .useStorageProvider(new PostgresStorageProvider(dataSource))
            .useJobActivator(activator);
  }

  @Override
  public void schedule(Map<String, Instant> deadlines) {
    BackgroundJobRequest.create(
        deadlines.entrySet().stream()
            .map(
                order ->
                    JobBuilder.aJob()
                        .withId(jobId(order.getKey()))
                        .scheduleAt(order.getValue())
                        .withJobRequest(new ExpireOrder(order.getKey()))));
  }

  @Override
  public void withdraw(Collection<String> orderIds) {
    for (String id : orderIds) {
      try {
        BackgroundJobRequest.delete(jobId(id));
      } catch (StorageException e) {
        log.debug("{} is expiring or has expired", id, e);
      }
    }
  }

  private static UUID jobId(String orderId) {
    return UUID.nameUUIDFromBytes(orderId.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void start() {
    configuration
        .useBackgroundJobServer(
            usingStandardBackgroundJobServerConfiguration()
                .andPollIntervalInSeconds(POLL_SECONDS)
                .andWorkerCount(PeerMain.THREADS))
        .initialize();
  }

  /** The request of an order's job. */
  public static final class ExpireOrder implements JobRequest {

    private static final long serialVersionUID = 1;

    private String orderId = "";

    /** For the JSON mapper. */
    ExpireOrder() {}

    ExpireOrder(String orderId) {
      this.orderId = orderId;
    }

    @Override
    public Class<ExpireOrderHandler> getJobRequestHandler() {
      return ExpireOrderHandler.class;
    }
  }

  /** Expires an order. */
  public static final class ExpireOrderHandler implements JobRequestHandler<ExpireOrder> {

    private final ShopOrders orders;

    ExpireOrderHandler(ShopOrders orders) {
      this.orders = orders;
    }

    @Override
    public void run(ExpireOrder request) {
      orders.expire(request.orderId);
    }
  }
}
