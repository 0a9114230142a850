package shop;

import java.time.Duration;
import java.util.List;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.scheduling.annotation.EnableScheduling;

/**
 * A shop that writes its events to an outbox: {@code create ORDER SECONDS_TO_PAY}, {@code pay ORDER
 * PAYMENT}, or {@code --run} to send the outbox and to follow the cancellations.
 */
@SpringBootApplication
@EnableScheduling
public class Shop implements ApplicationRunner {

  private final Orders orders;

  Shop(Orders orders) {
    this.orders = orders;
  }

  public static void main(String... arguments) {
    SpringApplication.run(Shop.class, arguments);
  }

  @Override
  public void run(ApplicationArguments arguments) {
    List<String> words = arguments.getNonOptionArgs();
    if (words.contains("create")) {
      orders.create(words.get(1), Duration.ofSeconds(Long.parseLong(words.get(2))));
    } else if (words.contains("pay")) {
      orders.pay(words.get(1), words.get(2));
    }
  }
}
