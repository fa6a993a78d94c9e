package dev.sluice.kube.reflect;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/**
 * Reads single texts of an object's metadata, and nothing else: also of objects that can't be read
 * otherwise, of any depth that the API server takes.
 */
public final class MetadataFieldReader {

  private static final JsonFactory JSON = TolerantDeserializers.json();

  private MetadataFieldReader() {}

  /** The {@code resourceVersion} of an object; empty if it has none. */
  static String version(byte[] bytes, int offset, int length) throws IOException {
    return of(bytes, offset, length, "resourceVersion");
  }

  /**
   * A text of the metadata of the object that is written in {@code length} bytes from {@code
   * offset} on; empty if it has none.
   *
   * @param field such as {@code name}
   * @throws IOException when the bytes before the field aren't JSON
   */
  public static String of(byte[] bytes, int offset, int length, String field) throws IOException {
    try (JsonParser parser = JSON.createParser(bytes, offset, length)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean metadata = parser.currentName().equals("metadata");
        if (parser.nextToken() == JsonToken.START_OBJECT && metadata) {
          return text(parser, field);
        }
        parser.skipChildren();
      }
    }
    return "";
  }

  private static String text(JsonParser parser, String field) throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean wanted = parser.currentName().equals(field);
      if (parser.nextToken() == JsonToken.VALUE_STRING && wanted) {
        return parser.getText();
      }
      parser.skipChildren();
    }
    return "";
  }
}
