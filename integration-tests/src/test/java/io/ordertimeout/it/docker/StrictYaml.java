package io.ordertimeout.it.docker;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads YAML files and rejects duplicate keys. */
public final class StrictYaml {

  private StrictYaml() {}

  public static JsonNode read(Path file) {
    LoaderOptions strict = new LoaderOptions();
    strict.setAllowDuplicateKeys(false);
    try (Reader reader = Files.newBufferedReader(file)) {
      Object content = new Yaml(new SafeConstructor(strict)).load(reader);
      return JsonMapper.shared().valueToTree(content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
