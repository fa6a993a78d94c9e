package dev.sluice.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonMemoryEstimateTest {

  private static JsonMemoryEstimate of(String text) {
    return JsonMemoryEstimate.of(RequestBody.of(text.getBytes(UTF_8)));
  }

  @Test
  void manySmallNodesCostMoreThanOneLongText() {
    long nodes = of("[" + "{},".repeat(1000) + "{}]").whole();
    long text = of("\"" + "[{}],".repeat(600) + "\"").whole();
    assertThat(nodes).isGreaterThan(200_000);
    assertThat(text).isLessThan(10_000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\\"", "a\\\\", "}", "[", ","})
  void whatStandsInTextIsNoStructure(String text) {
    String review = "{\"request\":{\"objects\":[{\"a\":\"%s\"},{\"a\":\"%s\"}]}}";
    long one = of(review.formatted(text, "")).largestElement();
    assertThat(one).isBetween(350L, 450L);
  }

  @Test
  void ofAListOnlyTheLargestElementCounts() {
    String small = "{\"a\":1}";
    String large = "{\"a\":[" + "1,".repeat(100) + "1]}";
    String list = "{\"request\":{\"objects\":[%s]},\"b\":[1,2]}";
    JsonMemoryEstimate many = of(list.formatted((small + ",").repeat(1000) + large + ",{}"));
    JsonMemoryEstimate one = of(list.formatted(large));
    assertThat(many.whole()).isGreaterThan(200_000);
    assertThat(many.largestElement()).isBetween(7000L, 8000L);
    assertThat(one.largestElement()).isBetween(7000L, 8100L);
  }
}
