package io.ordertimeout.it.support;

import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.Objects;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.slf4j.LoggerFactory;
import org.springframework.boot.test.system.CapturedOutput;

/**
 * Passes a test what its class has logged since the test began, as Spring Boot's {@link
 * CapturedOutput}. Lines of test classes that run at the same time are not part of it.
 */
public final class LogCapture implements BeforeEachCallback, AfterEachCallback, ParameterResolver {

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(LogCapture.class);

  @Override
  public void beforeEach(ExtensionContext context) {
    // Another class that runs at the same time may have just begun to initialise the logging.
    await().until(() -> LoggerFactory.getILoggerFactory() instanceof LoggerContext);
    LoggerContext logging = (LoggerContext) LoggerFactory.getILoggerFactory();
    CapturedLog log = new CapturedLog(logging, LogOwnership.current());
    log.start();
    logging.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).addAppender(log);
    context.getStore(NAMESPACE).put(CapturedLog.class, log);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    CapturedLog log = log(context);
    log.logging.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).detachAppender(log);
    log.stop();
  }

  private static CapturedLog log(ExtensionContext context) {
    return Objects.requireNonNull(
        context.getStore(NAMESPACE).get(CapturedLog.class, CapturedLog.class));
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == CapturedOutput.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return log(context);
  }

  private static final class CapturedLog extends AppenderBase<ILoggingEvent>
      implements CapturedOutput {

    private final LoggerContext logging;
    private final String owner;
    private final PatternLayout layout = new PatternLayout();
    private final StringBuilder text = new StringBuilder();

    CapturedLog(LoggerContext logging, String owner) {
      this.logging = logging;
      this.owner = owner;
      setContext(logging);
      layout.setContext(logging);
      layout.setPattern("%d{HH:mm:ss.SSS} %-5level [%thread] %logger{0} - %msg%n%ex");
      layout.start();
    }

    // Called under the appender's lock.
    @Override
    protected void append(ILoggingEvent event) {
      if (owner.equals(LogOwnership.current())) {
        String line = layout.doLayout(event);
        synchronized (text) {
          text.append(line);
        }
      }
    }

    @Override
    public String getAll() {
      synchronized (text) {
        return text.toString();
      }
    }

    @Override
    public String getOut() {
      return getAll();
    }

    @Override
    public String getErr() {
      return "";
    }

    @Override
    public int length() {
      return getAll().length();
    }

    @Override
    public char charAt(int index) {
      return getAll().charAt(index);
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return getAll().subSequence(start, end);
    }

    @Override
    public String toString() {
      return getAll();
    }
  }
}
