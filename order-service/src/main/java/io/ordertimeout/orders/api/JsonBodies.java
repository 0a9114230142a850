package io.ordertimeout.orders.api;

import org.springframework.http.converter.HttpMessageConverters;
import org.springframework.http.converter.json.JacksonJsonHttpMessageConverter;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Reads the JSON bodies of requests, and refuses fields that it does not know. */
@Component
class JsonBodies implements WebMvcConfigurer {

  private final JsonMapper json;

  JsonBodies(JsonMapper json) {
    this.json =
        json.rebuild()
            .enable(
                DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
  }

  @Override
  public void configureMessageConverters(HttpMessageConverters.ServerBuilder converters) {
    converters.withJsonConverter(new JacksonJsonHttpMessageConverter(json));
  }
}
