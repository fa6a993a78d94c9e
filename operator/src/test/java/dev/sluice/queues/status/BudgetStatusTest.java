package dev.sluice.queues.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.core.budget.Budgets.Hours;
import dev.sluice.core.model.BudgetAccount;
import dev.sluice.core.model.BudgetAccount.Charge;
import dev.sluice.core.model.BudgetSpec;
import dev.sluice.core.model.BudgetSpec.Limit;
import dev.sluice.core.model.BudgetSpec.Period;
import dev.sluice.core.model.BudgetSpec.Scope;
import dev.sluice.core.model.BudgetSpec.Unit;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The account in the status of a Budget, as it is written and read (docs/budgets.md). */
class BudgetStatusTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant NOW = START.plus(Duration.ofHours(10));

  private static final BudgetSpec SPEC =
      new BudgetSpec(
          "team",
          new Scope.OfClusterQueue("queue"),
          List.of(new Limit("cpu", Set.of(), Hours.of("cpu", BigDecimal.valueOf(1_000_000)))),
          new Period(Unit.YEARLY, "UTC", Optional.empty()),
          BigDecimal.ZERO,
          true,
          true);

  private static ObjectNode status(int charges, boolean newest) {
    List<Charge> open = new ArrayList<>();
    for (int i = 0; i < charges; i++) {
      open.add(charge(new UUID(0, i).toString(), true));
    }
    if (newest) {
      open.add(charge("newest", false));
    }
    BudgetAccount account =
        new BudgetAccount(
            START,
            Instant.parse("2027-01-01T00:00:00Z"),
            Map.of("cpu", BigDecimal.ONE),
            Map.of(),
            List.of(),
            open);
    return BudgetStatus.of(
        new BudgetAccount.OfBudget(SPEC, account, false),
        MissingNode.getInstance(),
        "",
        "me",
        Map.of(),
        NOW);
  }

  private static Charge charge(String uid, boolean written) {
    return new Charge(
        uid,
        START.plusMillis(123),
        Optional.of(START.plus(Duration.ofDays(3)).plusMillis(123)),
        written,
        Map.of("cpu", new BigDecimal("1E+3")));
  }

  @Test
  void anAccountIsReadAsItWasWritten() {
    assertThat(BudgetStatus.read(status(3, true)).orElseThrow().charges())
        .containsExactlyInAnyOrder(
            charge(new UUID(0, 0).toString(), true),
            charge(new UUID(0, 1).toString(), true),
            charge(new UUID(0, 2).toString(), true),
            charge("newest", false));
  }

  /** The API server stores 1.5 MiB; what isn't named any more is settled. */
  @Test
  void moreWorkloadsThanAStatusCanNameAreSettled() throws Exception {
    ObjectNode status = status(50_000, true);
    assertThat(JSON.writeValueAsBytes(status).length).isBetween(600_000, 1_000_000);
    BudgetAccount account = BudgetStatus.read(status).orElseThrow();
    assertThat(account.charges()).extracting(Charge::uid).contains("newest");
    BigDecimal each = BigDecimal.valueOf(1_000).multiply(BigDecimal.valueOf(10 * 3_600_000L - 123));
    BigDecimal settled = each.multiply(BigDecimal.valueOf(50_001 - account.charges().size()));
    assertThat(account.spent().get("cpu")).isEqualByComparingTo(settled.add(BigDecimal.ONE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "start: +1000000000-12-31T23:59:59Z",
        "start: 1969-12-31T23:59:59Z",
        "end: 2025-12-31T23:59:59Z",
        "end: +20000-01-01T00:00:00Z",
        "since: -999999999-01-01T00:00:00Z",
        "since: soon"
      })
  void timesThatNobodyCanCalculateWithAreNotRead(String fieldAndTime) {
    ObjectNode status = status(1, false);
    ObjectNode account = (ObjectNode) status.path("account");
    String[] parts = fieldAndTime.split(": ");
    JsonNode object = parts[0].equals("since") ? account.path("charges").path(0) : account;
    ((ObjectNode) object).put(parts[0], parts[1]);
    assertThat(BudgetStatus.read(status)).isEmpty();
  }

  private static final Duration PART = Duration.ofMinutes(105);

  /** A window of a week in which one core was used all the time, and more of late or not. */
  private static ObjectNode rolling(int parts, int cores) {
    BigDecimal ofPart = BigDecimal.valueOf(1_000 * PART.toMillis());
    Period week = new Period(Unit.MONTHLY, "UTC", Optional.of(Duration.ofHours(168)));
    BudgetSpec spec =
        new BudgetSpec(
            "team",
            SPEC.scope(),
            List.of(new Limit("cpu", Set.of(), Hours.of("cpu", BigDecimal.valueOf(200)))),
            week,
            BigDecimal.ZERO,
            true,
            false);
    Charge charge =
        new Charge(
            "a", NOW, Optional.empty(), true, Map.of("cpu", BigDecimal.valueOf(1_000L * cores)));
    BudgetAccount account =
        new BudgetAccount(
            NOW,
            NOW.plus(PART),
            Map.of(),
            Map.of(),
            Collections.nCopies(parts, Map.of("cpu", ofPart)),
            List.of(charge));
    return BudgetStatus.of(
        new BudgetAccount.OfBudget(spec, account, false),
        MissingNode.getInstance(),
        "",
        "me",
        Map.of("cpu/0.8", NOW),
        NOW);
  }

  @Test
  void aWindowBeganWithItsFirstPartAndHasNoEnd() {
    JsonNode period = rolling(96, 1).path("period");
    assertThat(period.path("start").asText())
        .isEqualTo(NOW.minus(Duration.ofHours(168)).toString());
    assertThat(period.path("end").isNull()).isTrue();
    assertThat(status(1, false).at("/period/end").asText()).isEqualTo("2027-01-01T00:00:00Z");
  }

  /** Of 200 core-hours 168 are spent: two cores use the rest while one of them leaves. */
  @ParameterizedTest
  @CsvSource({
    "96, 1, ''", // as much leaves as comes
    "96, 2, PT30H52M30S", // seventeen parts leave
    "96, 40, PT48M",
    "10, 2, PT91H15M",
    "0, 1, ''" // 168 hours fit
  })
  void aWindowIsSpentWhenMoreIsUsedThanLeaves(int parts, int cores, String spentIn) {
    JsonNode exhaustion = rolling(parts, cores).path("expectedExhaustion");
    if (spentIn.isEmpty()) {
      assertThat(exhaustion.isNull()).isTrue();
    } else {
      assertThat(exhaustion.asText()).isEqualTo(NOW.plus(Duration.parse(spentIn)).toString());
    }
  }

  @Test
  void whatWasToldIsReadAsItWasWritten() {
    ObjectNode status = rolling(1, 1);
    assertThat(BudgetStatus.told(status, NOW)).containsExactly(entry("cpu/0.8", NOW));
    Instant before = NOW.minusSeconds(1);
    assertThat(BudgetStatus.told(status, before)).containsExactly(entry("cpu/0.8", before));
    assertThat(BudgetStatus.told(status(1, true), NOW)).isEmpty();
  }
}
