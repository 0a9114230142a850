package io.ordertimeout.orders.api;

import io.ordertimeout.orders.platform.values.StatedTime;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Set;
import java.util.function.Function;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.converter.HttpMessageConverters;
import org.springframework.http.converter.json.JacksonJsonHttpMessageConverter;
import org.springframework.stereotype.Component;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.InputCoercionException;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.deser.DeserializationProblemHandler;
import tools.jackson.databind.deser.ValueInstantiator;
import tools.jackson.databind.deser.std.StdScalarDeserializer;
import tools.jackson.databind.exc.InvalidFormatException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/**
 * The API speaks JSON alone, whatever libraries there are. Reads the bodies of requests as they are
 * written: a value of another kind than its field's is never converted, and names that are unknown
 * or appear twice are refused.
 */
@Component
class JsonBodies implements WebMvcConfigurer {

  /** How much of a wrong value an error message repeats. */
  private static final int MAX_QUOTED = 100;

  private final JsonMapper json;

  JsonBodies(JsonMapper json) {
    this.json =
        json.rebuild()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(
                DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES,
                DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES,
                DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .addHandler(new WrongStructure())
            .addModule(scalars())
            .build();
  }

  private static SimpleModule scalars() {
    SimpleModule scalars = new SimpleModule("scalars");
    add(scalars, String.class, JsonParser::getString, JsonToken.VALUE_STRING);
    add(scalars, OffsetDateTime.class, p -> time(p.getString()), JsonToken.VALUE_STRING);
    add(scalars, Integer.class, JsonParser::getIntValue, JsonToken.VALUE_NUMBER_INT);
    add(scalars, Long.class, JsonParser::getLongValue, JsonToken.VALUE_NUMBER_INT);
    add(
        scalars,
        Boolean.class,
        JsonParser::getBooleanValue,
        JsonToken.VALUE_TRUE,
        JsonToken.VALUE_FALSE);
    return scalars;
  }

  private static <T> void add(
      SimpleModule module, Class<T> type, Function<JsonParser, T> value, JsonToken... tokens) {
    module.addDeserializer(type, new Scalar<>(type, value, Set.of(tokens)));
  }

  /**
   * Reads a time.
   *
   * @throws DateTimeException if it is no time, or has no offset
   */
  static OffsetDateTime time(String text) {
    Instant instant = StatedTime.parse(text).instant(null);
    if (instant == null) {
      throw new DateTimeException("has no offset");
    }
    return instant.atOffset(ZoneOffset.UTC);
  }

  @Override
  public void configureMessageConverters(HttpMessageConverters.ServerBuilder converters) {
    converters
        .withJsonConverter(new JacksonJsonHttpMessageConverter(json))
        .configureMessageConvertersList(all -> all.removeIf(JsonBodies::isOfAnotherFormat));
  }

  /** Whether Spring has added it only because a library that can write the format is there. */
  private static boolean isOfAnotherFormat(HttpMessageConverter<?> converter) {
    return converter.getSupportedMediaTypes().stream()
        .noneMatch(
            type ->
                type.isCompatibleWith(MediaType.APPLICATION_JSON)
                    || type.isCompatibleWith(MediaType.TEXT_PLAIN));
  }

  /** Reads a scalar from the tokens that its type has, and from no other. */
  private static final class Scalar<T> extends StdScalarDeserializer<T> {

    private final Function<JsonParser, T> value;
    private final Set<JsonToken> tokens;

    Scalar(Class<T> type, Function<JsonParser, T> value, Set<JsonToken> tokens) {
      super(type);
      this.value = value;
      this.tokens = tokens;
    }

    @Override
    public T deserialize(JsonParser parser, DeserializationContext context) {
      if (!tokens.contains(parser.currentToken())) {
        throw wrong(parser, "another kind of value", handledType());
      }
      try {
        return value.apply(parser);
      } catch (DateTimeException | InputCoercionException e) {
        InvalidFormatException wrong = wrong(parser, "no such value", handledType());
        wrong.initCause(e);
        throw wrong;
      }
    }
  }

  /** Names the value where an object or an array is expected. */
  private static final class WrongStructure extends DeserializationProblemHandler {

    @Override
    public Object handleUnexpectedToken(
        DeserializationContext context,
        JavaType type,
        JsonToken token,
        JsonParser parser,
        String message) {
      throw wrong(parser, message, type.getRawClass());
    }

    @Override
    public Object handleMissingInstantiator(
        DeserializationContext context,
        Class<?> type,
        ValueInstantiator instantiator,
        JsonParser parser,
        String message) {
      throw wrong(parser, message, type);
    }
  }

  /** Returns the exception for the value that the parser is at. */
  private static InvalidFormatException wrong(JsonParser parser, String message, Class<?> type) {
    return InvalidFormatException.from(parser, message, written(parser), type);
  }

  private static String written(JsonParser parser) {
    if (parser.isExpectedStartObjectToken()) {
      return "{…}";
    }
    if (parser.isExpectedStartArrayToken()) {
      return "[…]";
    }
    String text = String.valueOf(parser.getString());
    String beginning =
        text.codePointCount(0, text.length()) > MAX_QUOTED
            ? text.substring(0, text.offsetByCodePoints(0, MAX_QUOTED)) + "…"
            : text;
    return parser.hasToken(JsonToken.VALUE_STRING) ? '"' + beginning + '"' : beginning;
  }
}
