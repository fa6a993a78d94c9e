package dev.sluice.api.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;

/**
 * The mappers that read and write trees, one for each purpose. A mapper is safe to use from any
 * thread as long as nobody configures it: whoever needs other settings makes a mapper of its own.
 */
public final class JsonMappers {

  /** Reads and writes JSON trees with the settings of the library. */
  public static final ObjectMapper JSON = new ObjectMapper();

  /** Reads YAML files that people write. */
  public static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  /** Reads YAML and refuses a key that an object has twice. */
  public static final ObjectMapper STRICT_YAML =
      new ObjectMapper(new YAMLFactory()).enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);

  private JsonMappers() {}
}
