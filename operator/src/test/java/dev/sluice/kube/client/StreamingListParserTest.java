package dev.sluice.kube.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StreamingListParserTest {

  private static final String FIRST =
      "{\"a\": \"}],[{\", \"b\": [1, {\"c\": []}], \"d\": \"\\\\\", \"e\": \"\\\"}\\\\\\\"\"}";
  private static final String SECOND = "{\"x\":\"é\"}";
  private static final String LIST =
      "{\"kind\":\"L\",\"items\":[ " + FIRST + "," + SECOND + "],\"metadata\":{\"v\":[\"1\",2]}}";

  private final List<String> items = new ArrayList<>();

  @Test
  void itemsAreTheSameHoweverTheBytesCome() throws IOException {
    for (int size = 1; size <= LIST.length() + 1; size++) {
      items.clear();

      String frame = split(LIST, size);

      assertThat(items).as("%d bytes at a time", size).containsExactly(FIRST, SECOND);
      assertThat(frame).isEqualTo("{\"kind\":\"L\",\"items\":[ ],\"metadata\":{\"v\":[\"1\",2]}}");
    }
  }

  @Test
  void anItemMayBeLongerThanAnyBuffer() throws IOException {
    String item = "{\"long\":\"" + "x".repeat(200_000) + "\"}";

    assertThat(split("{\"items\":[" + item + "]}", Integer.MAX_VALUE)).isEqualTo("{\"items\":[]}");

    assertThat(items).containsExactly(item);
  }

  @Test
  void aListThatEndsInTheMiddleIsNone() {
    for (int end = 0; end < LIST.length(); end++) {
      String part = LIST.substring(0, end);

      assertThatThrownBy(() -> split(part, 7)).as(part).isInstanceOf(IOException.class);
    }
  }

  private String split(String list, int size) throws IOException {
    InputStream pieces =
        new ByteArrayInputStream(list.getBytes(UTF_8)) {
          @Override
          public synchronized int read(byte[] bytes, int offset, int length) {
            return super.read(bytes, offset, Math.min(length, size));
          }
        };
    byte[] frame =
        StreamingListParser.split(
            pieces, (bytes, length) -> items.add(new String(bytes, 0, length, UTF_8)));
    return new String(frame, UTF_8);
  }
}
