package dev.sluice.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

@Order(1) // long ones begin early
class SourceFormatTest {

  @Test
  void everySourceFileIsInTheProjectsFormat() throws IOException {
    assertThat(SourceFormat.deviating())
        .as("files to be formatted with: mvn test-compile exec:exec@format")
        .isEmpty();
  }
}
