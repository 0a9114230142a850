package io.ordertimeout.orders.intake.decoding;

import io.ordertimeout.orders.OrderTimeoutProperties;
import io.ordertimeout.orders.platform.avro.AvroDecoder;
import io.ordertimeout.orders.platform.avro.UnusableAvroException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.UnknownHostException;
import java.net.http.HttpTimeoutException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.avro.generic.IndexedRecord;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Values that a Deserializer of the shop decodes: to JSON as text or bytes, a tree of Jackson, a
 * record of Avro, or any object that Jackson can turn into a tree, such as a map.
 *
 * <p>Any exception makes the record unusable, unless it is due to an outage. Thread-safe: calls of
 * the Deserializer, which need not be, follow one another.
 */
final class DeserializedValues implements ValueDecoder {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private final Deserializer<?> deserializer;
  private final ClassLoader classes;

  private DeserializedValues(Deserializer<?> deserializer, ClassLoader classes) {
    this.deserializer = deserializer;
    this.classes = classes;
  }

  /**
   * Creates a Deserializer and configures it.
   *
   * @throws UnusableDeserializerException if it cannot be created or configured
   */
  static DeserializedValues of(String className, OrderTimeoutProperties.Deserializer properties) {
    try {
      ClassLoader classes = classes(properties.libraries());
      return with(
          classes,
          () -> {
            Deserializer<?> deserializer = create(className, classes);
            deserializer.configure(properties.properties(), false);
            return new DeserializedValues(deserializer, classes);
          });
    } catch (IOException e) {
      throw new UnusableDeserializerException(
          "order-timeout.intake.deserializer.libraries is not a readable directory: " + e, e);
    } catch (RuntimeException | LinkageError e) {
      throw new UnusableDeserializerException(
          "order-timeout.intake.encodings has %s, which cannot be used as a Deserializer: %s"
              .formatted(className, LogSanitizer.of(e.toString())),
          e);
    }
  }

  private static Deserializer<?> create(String className, ClassLoader classes) {
    try {
      return Class.forName(className, true, classes)
          .asSubclass(Deserializer.class)
          .getConstructor()
          .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(
          String.valueOf(e.getCause() == null ? e : e.getCause()), e);
    }
  }

  /** The classes of the service and, if there are any, those of the jars in a directory. */
  private static ClassLoader classes(@Nullable Path libraries) throws IOException {
    ClassLoader own = DeserializedValues.class.getClassLoader();
    if (libraries == null) {
      return own;
    }
    List<URL> jars = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(libraries, "*.jar")) {
      for (Path jar : files) {
        jars.add(jar.toUri().toURL());
      }
    }
    // Never closed: the Deserializer may load classes as long as the service runs.
    return new URLClassLoader(jars.toArray(URL[]::new), own);
  }

  /** Runs with the class loader that libraries ask for classes that their settings name. */
  private static <T> T with(ClassLoader classes, Supplier<T> action) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(classes);
    try {
      return action.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Override
  public DecodedValue decode(String topic, Headers headers, byte[] value)
      throws UnusableRecordException {
    try {
      Object result;
      synchronized (deserializer) {
        result = with(classes, () -> deserializer.deserialize(topic, headers, value));
      }
      String type = result instanceof IndexedRecord avro ? avro.getSchema().getFullName() : null;
      return new DecodedValue(tree(result), type, true);
    } catch (RuntimeException | StackOverflowError e) {
      if (isOutage(e)) {
        throw new DeserializerOutageException(e);
      }
      throw new UnusableRecordException("the value cannot be deserialized: " + e);
    } catch (UnusableAvroException e) {
      throw new UnusableRecordException("the value cannot be deserialized: " + e.getMessage());
    }
  }

  private static JsonNode tree(@Nullable Object result)
      throws UnusableRecordException, UnusableAvroException {
    if (result == null) {
      throw new UnusableRecordException("the value is deserialized to null");
    }
    if (result instanceof JsonNode node) {
      return node;
    }
    if (result instanceof byte[] bytes) {
      return JsonTree.parse(bytes);
    }
    // A tree of Jackson 2 is written as JSON by its toString().
    if (result instanceof CharSequence
        || result instanceof com.fasterxml.jackson.databind.JsonNode) {
      return JsonTree.parse(RecordFormat.utf8(result.toString()));
    }
    return result instanceof IndexedRecord avro ? AvroDecoder.tree(avro) : JSON.valueToTree(result);
  }

  /** Whether a failure is not due to the value. */
  private static boolean isOutage(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof RetriableException
          || cause instanceof SocketException
          || cause instanceof InterruptedIOException
          || cause instanceof HttpTimeoutException
          || cause instanceof UnknownHostException) {
        return true;
      }
    }
    return false;
  }
}
