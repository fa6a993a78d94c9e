package dev.sluice.checks.multikueue.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.checks.multikueue.fencing.FencingController.LeaseReader;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The API server's clock shows 20:00 when it is noon here. */
class LeaseReaderTest {

  private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");
  private static final Instant THERE = Instant.parse("2026-03-01T20:00:00Z");
  private static final String RENEWED = "'fieldsV1': {'f:spec': {'f:renewTime': {}}}";

  private static JsonNode lease(String managedFields) throws Exception {
    return new ObjectMapper()
        .readTree(
            """
            {'metadata': {'creationTimestamp': '2026-03-01T19:00:00Z', 'managedFields': [%s]},
             'spec': {'holderIdentity': 'one', 'renewTime': '2026-02-01T00:00:00.123456Z'}}
            """
                .formatted(managedFields)
                .replace('\'', '"'));
  }

  private static LeaseReader.Reading reading(String managedFields) throws Exception {
    return LeaseReader.reading(lease(managedFields), Optional.of(THERE), NOON, NOON.plusMillis(200))
        .orElseThrow();
  }

  @Test
  void theAgeOfARenewalIsTakenFromTheApiServersClockAlone() throws Exception {
    LeaseReader.Reading reading = reading("{'time': '2026-03-01T19:50:00Z', " + RENEWED + "}");

    assertThat(reading.holder()).isEqualTo("one");
    assertThat(reading.sent()).isEqualTo("2026-02-01T00:00:00.123456Z");
    assertThat(reading.earliest()).isEqualTo("2026-03-01T11:49:59Z");
    assertThat(reading.latest()).isEqualTo("2026-03-01T11:50:01.200Z");
    assertThat(reading.responseTime()).isEqualTo(NOON.plusMillis(200));
  }

  @Test
  void whoTouchesSomethingElseOfTheLeaseDoesNotRenewIt() throws Exception {
    LeaseReader.Reading reading =
        reading(
            "{'time': '2026-03-01T19:59:00Z', 'fieldsV1': {'f:metadata': {'f:labels': {}}}},"
                + "{'time': '2026-03-01T19:50:00Z', "
                + RENEWED
                + "}");

    assertThat(reading.earliest()).isEqualTo("2026-03-01T11:49:59Z");
  }

  @Test
  void ofAnUnknownTimeItIsOnlyKnownThatTheLeaseWasMadeBefore() throws Exception {
    LeaseReader.Reading reading = reading("");

    assertThat(reading.earliest()).isEqualTo("2026-03-01T10:59:59Z");
    assertThat(reading.latest()).isEqualTo(reading.responseTime());
  }

  @Test
  void nothingCameLaterThanTheAnswer() throws Exception {
    LeaseReader.Reading reading = reading("{'time': '2026-03-01T20:05:00Z', " + RENEWED + "}");

    assertThat(reading.earliest()).isEqualTo(reading.responseTime());
    assertThat(reading.latest()).isEqualTo(reading.responseTime());
  }

  @Test
  void withoutADateClocksAreTakenToAgree() throws Exception {
    JsonNode lease = lease("{'time': '2026-03-01T11:50:00Z', " + RENEWED + "}");

    assertThat(LeaseReader.reading(lease, Optional.empty(), NOON, NOON))
        .hasValueSatisfying(it -> assertThat(it.earliest()).isEqualTo("2026-03-01T11:49:59Z"));
  }

  @Test
  void aLeaseThatWasNeverRenewedSaysNothing() throws Exception {
    assertThat(
            LeaseReader.reading(
                new ObjectMapper().readTree("{\"spec\": {}}"), Optional.of(THERE), NOON, NOON))
        .isEmpty();
  }
}
