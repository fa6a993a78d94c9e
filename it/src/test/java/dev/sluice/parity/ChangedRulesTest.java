package dev.sluice.parity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Each rule that came with the API 0.20 has tests, and each of these names the rule's section. */
class ChangedRulesTest {

  /** How a comment names sections. */
  private static final Pattern SECTIONS =
      Pattern.compile("[Cc]hanges of 0\\.20, sections? ([1-7])(?: and ([1-7]))?");

  /** The end of a method. */
  private static final Pattern END = Pattern.compile("\\n {2,4}}\\n");

  /** The tests of each rule; a rule begins with its section. */
  private static final Map<String, String> RULES = ParityFiles.texts("rules.txt");

  @Test
  void eachTestOfARuleNamesItsSection() {
    Map<String, String> tests = ParityFiles.tests();
    assertThat(silent(tests)).as("tests that aren't there, or don't name the section").isEmpty();

    Map<String, String> planted = new HashMap<>(tests);
    planted.replaceAll(
        (file, text) -> text.replace("0.20, section 3", "").replace("void eightJoin", "void few"));
    assertThat(silent(planted))
        .contains(
            "3 all workers share one limit of requests:"
                + " RemoteClientsTest#allWorkersShareOneLimitOfTheRate",
            "4 FairSharingRefill: FairSharingTest#eightJoinACycleOfAllTrees")
        .filteredOn(rule -> !rule.startsWith("3 "))
        .hasSize(1);
  }

  @Test
  void eachSectionHasRules() {
    assertThat(RULES.keySet().stream().map(rule -> rule.charAt(0)).collect(Collectors.toSet()))
        .isEqualTo(Set.of('1', '2', '3', '4', '5', '6', '7'));
  }

  private static List<String> silent(Map<String, String> tests) {
    List<String> silent = new ArrayList<>();
    RULES.forEach(
        (rule, list) -> {
          for (String test : list.split(" ")) {
            String[] names = test.split("#");
            Optional<String> source = source(tests, names[0]);
            if (source.filter(text -> sections(text, names).contains(rule.charAt(0))).isEmpty()) {
              silent.add(rule + ": " + test);
            }
          }
        });
    return silent;
  }

  private static Optional<String> source(Map<String, String> tests, String name) {
    return tests.entrySet().stream()
        .filter(file -> file.getKey().endsWith("/" + name + ".java"))
        .map(Map.Entry::getValue)
        .findFirst();
  }

  /** The sections that a test names: in its own comment, and in that of its class. */
  private static Set<Character> sections(String source, String[] names) {
    int method = source.indexOf(" void " + names[1] + "(");
    int type = source.indexOf("\nclass " + names[0] + " ");
    if (method < 0 || type < 0) {
      return Set.of();
    }
    String before = source.substring(0, method);
    String own = before.substring(before.lastIndexOf("/**"));
    String comments = source.substring(0, type) + (END.matcher(own).find() ? "" : own);
    Matcher named = SECTIONS.matcher(comments.replaceAll("\\s*\\n\\s*\\*\\s?", " "));
    return named
        .results()
        .flatMap(
            each -> (each.group(1) + Optional.ofNullable(each.group(2)).orElse("")).chars().boxed())
        .map(each -> (char) each.intValue())
        .collect(Collectors.toSet());
  }
}
