package io.ordertimeout.orders.api;

import jakarta.servlet.http.HttpServletRequest;
import java.util.Set;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.util.ServletRequestPathUtils;

/**
 * Entity tags of what is read: a client that sends the one it has in {@code If-None-Match} gets 304
 * while nothing has changed. They are computed from the content, because the files of a
 * reproducible jar all have the same time, whatever version they are of; and they are weak, because
 * a response may be compressed. Thread-safe.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9110#name-etag">RFC 9110, ETag</a>
 */
@Configuration(proxyBeanMethods = false)
class EntityTags {

  /**
   * The first page is forwarded to its file, which gets the tag: after a forward, Tomcat takes
   * nothing more. The others are sent while they are produced.
   */
  private static final Set<String> WITHOUT = Set.of("/", "/api/v1/live", "/api/v1/orders.csv");

  @Bean
  FilterRegistrationBean<ShallowEtagHeaderFilter> entityTagsFilter() {
    ShallowEtagHeaderFilter filter =
        new ShallowEtagHeaderFilter() {
          @Override
          protected boolean shouldNotFilter(HttpServletRequest request) {
            return WITHOUT.contains(
                ServletRequestPathUtils.parse(request).pathWithinApplication().value());
          }
        };
    filter.setWriteWeakETag(true);
    return new FilterRegistrationBean<>(filter);
  }
}
