package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class UninstallCommandTest {

  @Test
  void aTimeoutThatEndsAtOnceIsRefused() {
    StringWriter err = new StringWriter();

    int code =
        Main.commandLine()
            .setErr(new PrintWriter(err, true))
            .execute("uninstall", "--definitions", "--timeout", "0");

    assertThat(code).isEqualTo(2);
    assertThat(err.toString()).contains("--timeout is 0, must be 1 or more");
  }
}
