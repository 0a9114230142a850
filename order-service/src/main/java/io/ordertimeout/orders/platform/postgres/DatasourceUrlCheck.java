package io.ordertimeout.orders.platform.postgres;

import java.sql.DriverManager;
import java.sql.SQLException;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Refuses a malformed URL of Postgres before the connection pool sees it: the pool's own message
 * quotes the URL, and with it a password that it may contain.
 */
@Component
final class DatasourceUrlCheck implements BeanFactoryPostProcessor, EnvironmentAware {

  private String url = "";

  @Override
  public void setEnvironment(Environment environment) {
    url = environment.getProperty("spring.datasource.url", "");
  }

  /**
   * Checks the URL.
   *
   * @throws MalformedDatasourceUrlException if Postgres's driver does not accept it, or if it names
   *     a user before the host
   */
  @Override
  public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
    if (!url.startsWith("jdbc:postgresql:") || namesUser() || !isAccepted()) {
      throw new MalformedDatasourceUrlException();
    }
  }

  /** The driver would take {@code user:password@host} for a host, and log that it is unknown. */
  private boolean namesUser() {
    int options = url.indexOf('?');
    return url.substring(0, options < 0 ? url.length() : options).contains("@");
  }

  private boolean isAccepted() {
    try {
      DriverManager.getDriver(url);
      return true;
    } catch (SQLException e) {
      return false;
    }
  }
}
