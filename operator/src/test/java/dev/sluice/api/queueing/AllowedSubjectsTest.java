package dev.sluice.api.queueing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Who is named by the annotations of a queue or class. */
class AllowedSubjectsTest {

  private static boolean allowed(Map<String, String> annotations, String user, String... groups) {
    return AllowedSubjects.of(annotations).allows(user, List.of(groups));
  }

  @Test
  void withoutAnnotationsEverybodyMay() {
    assertThat(allowed(Map.of("other", "x"), "anybody")).isTrue();
    assertThat(AllowedSubjects.of(null).allows("anybody", List.of())).isTrue();
  }

  @Test
  void whoIsNamedMay() {
    Map<String, String> annotations =
        Map.of(AllowedSubjects.USERS, "ann, bob", AllowedSubjects.GROUPS, "oidc:ml team,admins");

    assertThat(allowed(annotations, "ann")).isTrue();
    assertThat(allowed(annotations, "bob")).isTrue();
    assertThat(allowed(annotations, "cat", "admins", "others")).isTrue();
    assertThat(allowed(annotations, "cat", "oidc:ml team")).isTrue();
    assertThat(allowed(annotations, "cat", "others")).isFalse();
    // a user isn't a group, and a part of a name is no name
    assertThat(allowed(annotations, "admins")).isFalse();
    assertThat(allowed(annotations, "cat", "ann")).isFalse();
    assertThat(allowed(annotations, "an")).isFalse();
    assertThat(allowed(annotations, "")).isFalse();
  }

  @Test
  void valuesThatNameNobodyAllowNobody() {
    for (String value : List.of("", " , ,", "a".repeat(4097), "ann,".repeat(1025))) {
      assertThat(allowed(Map.of(AllowedSubjects.USERS, value), "ann", "ann")).isFalse();
      assertThat(allowed(Map.of(AllowedSubjects.USERS, value), "", "")).isFalse();
      assertThat(allowed(Map.of(AllowedSubjects.GROUPS, value), "ann", "ann", "")).isFalse();
    }
  }
}
