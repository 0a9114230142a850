package io.ordertimeout.it.support;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.sift.AbstractDiscriminator;
import java.nio.file.Path;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/**
 * Attributes log lines to test classes while several of them run in one JVM: each thread belongs to
 * the test class that started it, or that started its parent.
 */
public final class LogOwnership implements BeforeAllCallback, TestInstancePreConstructCallback {

  /** The owner of threads that serve all test classes. */
  static final String NOBODY = "environment";

  private static final InheritableThreadLocal<String> OWNER =
      new InheritableThreadLocal<>() {
        @Override
        protected String initialValue() {
          return NOBODY;
        }
      };

  @Override
  public void beforeAll(ExtensionContext context) {
    OWNER.set(owner(context.getRequiredTestClass()));
  }

  // The instance of a class with the life cycle PER_CLASS is created before the callback above.
  @Override
  public void preConstructTestInstance(
      TestInstanceFactoryContext factoryContext, ExtensionContext context) {
    OWNER.set(owner(context.getRequiredTestClass()));
  }

  private static String owner(Class<?> testClass) {
    return testClass.getSimpleName();
  }

  /** The log file of a test class, by its simple name. */
  static Path file(String testClass) {
    return Path.of(System.getProperty("test.logs", "target/test-logs"), testClass + ".log");
  }

  /** The simple name of the test class that owns the current thread. */
  static String current() {
    return OWNER.get();
  }

  /** Runs something whose threads outlive the test class that happens to need them first. */
  static <T> T asNobody(Supplier<T> action) {
    String owner = OWNER.get();
    OWNER.set(NOBODY);
    try {
      return action.get();
    } finally {
      OWNER.set(owner);
    }
  }

  /** Selects the log file of the test class that owns the logging thread. */
  public static final class Discriminator extends AbstractDiscriminator<ILoggingEvent> {

    @Override
    public String getDiscriminatingValue(ILoggingEvent event) {
      return current();
    }

    @Override
    public String getKey() {
      return "testClass";
    }
  }
}
