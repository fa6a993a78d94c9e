package dev.sluice.kube.client;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;

/** Cuts an event of a watch into its type and its object, without a copy. */
public final class WatchEventReader {

  /** Takes an event; the bytes are only good during the call. */
  @FunctionalInterface
  public interface Sink {
    /** The object of the event is written in {@code length} bytes from {@code offset} on. */
    void event(String type, byte[] bytes, int offset, int length) throws IOException;
  }

  private final JsonFactory json;

  /** Reads events with the parsers of this factory. */
  public WatchEventReader(JsonFactory json) {
    this.json = json;
  }

  /** Reads one event, which is written in {@code length} bytes from {@code offset} on. */
  public void read(byte[] bytes, int offset, int length, Sink sink) throws IOException {
    String type = "";
    int from = 0;
    int to = 0;
    try (JsonParser event = json.createParser(bytes, offset, length)) {
      event.nextToken();
      while (event.nextToken() == JsonToken.FIELD_NAME) {
        String field = event.currentName();
        event.nextToken();
        if (field.equals("type")) {
          type = event.getText();
        } else if (field.equals("object")) {
          from = offset + (int) event.currentTokenLocation().getByteOffset();
          event.skipChildren();
          to = offset + (int) event.currentLocation().getByteOffset();
        } else {
          event.skipChildren();
        }
      }
    }
    sink.event(type, bytes, from, to - from);
  }
}
