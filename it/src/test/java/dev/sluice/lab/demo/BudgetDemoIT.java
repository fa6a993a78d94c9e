package dev.sluice.lab.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.testing.BuildBreadth;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The week of two teams and the bill, as a user sees them. */
@Tag(BuildBreadth.NIGHTLY)
class BudgetDemoIT {

  @Test
  void everyExpectationHoldsAndTheBillIsPrinted() {
    StringWriter out = new StringWriter();
    int exitCode =
        new CommandLine(new PoolDemo.BudgetDemo())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(out))
            .execute();
    assertThat(exitCode).as(out::toString).isZero();
    assertThat(out.toString())
        .contains("7 of 7 expectations held", "COST EUR", "all of it on demand");
  }
}
