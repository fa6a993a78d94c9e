package dev.sluice.api.queueing;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who may use a LocalQueue or a WorkloadPriorityClass, as its annotations say
 * (docs/queueing-policies.md#who-may-use-a-queue-or-a-class). Without them everybody may. With one
 * of them, nobody may who isn't named, also where the value is empty or too long.
 *
 * @param isRestricted whether only those may who are named
 * @param users names of users, also of service accounts
 * @param groups names of groups
 */
public record AllowedSubjects(boolean isRestricted, Set<String> users, Set<String> groups) {

  /** The users who may, separated by commas. */
  public static final String USERS = "sluice.dev/allowed-users";

  /** The groups whose members may, separated by commas. */
  public static final String GROUPS = "sluice.dev/allowed-groups";

  /** Everybody may. */
  public static final AllowedSubjects EVERYBODY = new AllowedSubjects(false, Set.of(), Set.of());

  /** Nobody may. */
  public static final AllowedSubjects NOBODY = new AllowedSubjects(true, Set.of(), Set.of());

  /** The most characters of a value; a longer one names nobody. */
  public static final int LONGEST = 4096;

  /** Copies the sets. */
  public AllowedSubjects {
    users = Set.copyOf(users);
    groups = Set.copyOf(groups);
  }

  /** Reads the annotations of an object. */
  public static AllowedSubjects of(@Nullable Map<String, String> annotations) {
    if (annotations == null
        || !(annotations.containsKey(USERS) || annotations.containsKey(GROUPS))) {
      return EVERYBODY;
    }
    return new AllowedSubjects(true, names(annotations.get(USERS)), names(annotations.get(GROUPS)));
  }

  private static Set<String> names(@Nullable String value) {
    Set<String> names = new LinkedHashSet<>();
    if (value != null && value.length() <= LONGEST) {
      for (String each : value.split(",", -1)) {
        names.add(each.strip());
      }
      names.remove("");
    }
    return names;
  }

  /** Whether a user with these groups may. */
  public boolean allows(String user, Collection<String> memberOf) {
    return !isRestricted || users.contains(user) || memberOf.stream().anyMatch(groups::contains);
  }
}
