package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.install.InstallationWatch.WatchedObjects;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InstallationWatchTest {

  private final ObjectMapper json = new ObjectMapper();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[] | false",
        "[{\"addresses\": [\"10.0.0.7\"], \"targetRef\": {\"kind\": \"Pod\", \"name\": \"other\"}}]"
            + " | false",
        "[{\"addresses\": [\"10.0.0.7\"], \"targetRef\": {\"kind\": \"Pod\", \"name\": \"own\"}}] |"
            + " true",
        "[{\"addresses\": [\"10.0.0.1\"], \"targetRef\": {\"kind\": \"Pod\", \"name\": \"other\"}}]"
            + " | true",
        "[{\"addresses\": [\"fd00:0:0:0::0001\"], \"targetRef\": {\"name\": \"other\"}}] | true",
        "[{\"addresses\": [\"fd00::2\", \"own\"], \"targetRef\": {\"name\": \"other\"}}] | false",
        "[{\"addresses\": [\"10.0.0.7\"], \"conditions\": {\"ready\": false}, \"targetRef\":"
            + " {\"name\": \"own\"}}] | true",
        "[{\"addresses\": [\"10.0.0.7\"]}] | true",
        "null | false",
        "\"text\" | false"
      })
  void aServiceLeadsHereByPodOrByAddress(String endpoints, boolean here) throws Exception {
    assertThat(
            InstallationWatch.leadHere(
                Map.of("slice", json.readTree(endpoints)),
                "own",
                Set.of(InetAddress.ofLiteral("10.0.0.1"), InetAddress.ofLiteral("fd00::1%7"))))
        .isEqualTo(here);
  }

  @Test
  void nothingIsToldBeforeTheListEndedAndWhatTheListLacksIsGone() throws Exception {
    List<Set<String>> told = new ArrayList<>();
    WatchedObjects objects = new WatchedObjects(JsonNode::deepCopy, it -> told.add(it.keySet()));

    objects.listingBegins();
    objects.seen(seen(objects, "a"));
    assertThat(told).isEmpty();
    objects.listingEnds();
    objects.seen(seen(objects, "b"));
    objects.deleted(seen(objects, "a"));
    objects.listingBegins();
    objects.listingEnds();

    assertThat(told).containsExactly(Set.of("a"), Set.of("a", "b"), Set.of("b"), Set.of());
  }

  private static WatchedObjects.Seen seen(WatchedObjects objects, String name) throws Exception {
    byte[] text = ("{\"metadata\": {\"name\": \"" + name + "\"}}").getBytes("UTF-8");
    return objects.parse(text, 0, text.length);
  }
}
