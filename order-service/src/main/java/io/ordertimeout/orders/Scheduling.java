package io.ordertimeout.orders;

import org.springframework.boot.task.ThreadPoolTaskSchedulerBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Scheduled tasks. */
@Configuration(proxyBeanMethods = false)
@EnableScheduling
class Scheduling {

  /**
   * Has a thread for each of several tasks, also if {@code spring.threads.virtual.enabled} is set:
   * Spring Boot's scheduler for virtual threads runs tasks with a fixed delay on one thread, where
   * a task that waits for Postgres would delay the others.
   */
  @Bean
  ThreadPoolTaskScheduler taskScheduler(ThreadPoolTaskSchedulerBuilder builder) {
    return builder.build();
  }
}
