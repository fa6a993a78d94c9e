package dev.sluice.kube.reading;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** Reads the resourceVersion of an object, and nothing else. */
final class ResourceVersionReader {

  private static final JsonFactory JSON = TolerantDeserializers.json();

  private ResourceVersionReader() {}

  /** The version of an object; empty if it has none. */
  static String of(byte[] bytes, int offset, int length) throws IOException {
    try (JsonParser parser = JSON.createParser(bytes, offset, length)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean metadata = parser.currentName().equals("metadata");
        if (parser.nextToken() == JsonToken.START_OBJECT && metadata) {
          return version(parser);
        }
        parser.skipChildren();
      }
    }
    return "";
  }

  private static String version(JsonParser parser) throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean version = parser.currentName().equals("resourceVersion");
      if (parser.nextToken() == JsonToken.VALUE_STRING && version) {
        return parser.getText();
      }
      parser.skipChildren();
    }
    return "";
  }
}
