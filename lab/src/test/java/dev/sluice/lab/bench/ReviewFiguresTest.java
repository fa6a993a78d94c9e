package dev.sluice.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.lab.bench.ReviewLoad.ReviewFigures;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Figures of reviews that were sent to webhooks. */
class ReviewFiguresTest {

  private static final long MILLI = 1_000_000;

  @Test
  void quantilesAreTheSmallestTimesThatNoFewerStayedBelow() {
    List<ReviewFigures.Sample> samples =
        LongStream.rangeClosed(1, 200)
            .mapToObj(
                i ->
                    new ReviewFigures.Sample(
                        i * 100 * MILLI - MILLI, i * MILLI / 100, (201 - i) * MILLI))
            .toList();

    ReviewFigures figures = ReviewFigures.of(samples, 2, Map.of("refused", 3));

    assertThat(figures)
        .isEqualTo(
            new ReviewFigures(
                200, 100, 100, 198, 200, 1.98, List.of(199.0, 99.0), Map.of("refused", 3)));
    assertThat(figures.failed()).isEqualTo(3);
    assertThat(figures.text("webhooks"))
        .contains("200 reviews, 100.0 /s, 3 errors", "p99 198.00 ms", "199 99", "3 times: refused");
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    figures.into(json);
    assertThat(json.path("p99Millis").asDouble()).isEqualTo(198);
    assertThat(json.path("errors").asInt()).isEqualTo(3);
  }

  @Test
  void nothingSentIsNoFailure() {
    assertThat(ReviewFigures.of(List.of(), 0, Map.of()))
        .isEqualTo(new ReviewFigures(0, 0, 0, 0, 0, 0, List.of(), Map.of()));
  }
}
