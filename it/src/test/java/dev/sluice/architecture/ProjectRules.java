package dev.sluice.architecture;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Rules about the text of the project. Each is a function from sources to a list of violations, one
 * sentence each; an empty list means that the rule is kept.
 */
final class ProjectRules {

  /**
   * One text file.
   *
   * @param path path from the root of the project, with slashes
   * @param text content
   */
  record Source(String path, String text) {}

  /** A type that a source declares. */
  private record Declared(String name, String path, boolean nested, boolean isPublic) {}

  private static final Pattern NO_CODE =
      Pattern.compile(
          "\"\"\"[\\s\\S]*?\"\"\"|/\\*[\\s\\S]*?\\*/|//[^\\n]*|\"(?:\\\\.|[^\"\\n\\\\])*+\"");
  private static final Pattern TYPE =
      Pattern.compile(
          "^([ ]*)((?:(?:public|protected|private|static|final|abstract|sealed|non-sealed) )*)"
              + "(?:class|interface|enum|record|@interface) ([A-Z]\\w*)",
          Pattern.MULTILINE);
  private static final Pattern PAGE = Pattern.compile("docs/[\\w/-]+\\.md(?:#[\\w-]+)?");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern FENCE = Pattern.compile("(?ms)^```.*?^```");
  private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+?) *$");
  private static final Pattern FOREIGN =
      Pattern.compile("(?i)\\bcontract(?:'s)?\\b|\\bsections? [0-9]+");

  /** A tag of a whole class that keeps it out of the daily build. */
  private static final Pattern NIGHTLY =
      Pattern.compile("^@Tag\\((BuildBreadth\\.NIGHTLY|\"faults\")\\)$", Pattern.MULTILINE);

  private static final Pattern OPERATOR =
      Pattern.compile("\\b(?:LocalOperator|OperatorProcess)\\s*\\.start\\w*\\(|\\bnew Restarts\\(");
  private static final Pattern TEST_METHOD =
      Pattern.compile("(?m)^  @(?:Parameterized|Repeated)?Test\\b");
  private static final Pattern CODE_SPAN = Pattern.compile("`([^`\\n]+)`");

  private ProjectRules() {}

  /** Names of two or more types at the top level. Versioned API types may share names. */
  static List<String> sharedNames(List<Source> sources) {
    Map<String, Set<String>> paths = new TreeMap<>();
    for (Declared type : declared(sources)) {
      if (!type.nested() && !isVersioned(type.path())) {
        paths.computeIfAbsent(type.name(), unknown -> new TreeSet<>()).add(type.path());
      }
    }
    List<String> bad = new ArrayList<>();
    paths.forEach(
        (name, found) -> {
          if (found.size() > 1) {
            bad.add(name + " is the name of several types: " + found);
          }
        });
    return bad;
  }

  /** Public nested types that have the name of another type at the top level. */
  static List<String> shadowingNames(List<Source> sources) {
    Set<String> top = new HashSet<>();
    List<Declared> nested = new ArrayList<>();
    for (Declared type : declared(sources)) {
      if (isVersioned(type.path())) {
        continue;
      }
      if (type.nested()) {
        nested.add(type);
      } else {
        top.add(type.name());
      }
    }
    return nested.stream()
        .filter(type -> type.isPublic() && top.contains(type.name()))
        .map(type -> fileName(type.path()) + "." + type.name())
        .sorted()
        .toList();
  }

  /** Types whose simple name is one of the given ones. */
  static List<String> typesNamed(List<Source> sources, Set<String> forbidden) {
    return declared(sources).stream()
        .filter(type -> forbidden.contains(type.name()))
        .map(type -> type.name() + " is declared in " + type.path())
        .toList();
  }

  /** Pages that show one of the given type names as code. */
  static List<String> pagesNaming(List<Source> pages, Set<String> forbidden) {
    List<String> bad = new ArrayList<>();
    for (Source page : pages) {
      Matcher span = CODE_SPAN.matcher(FENCE.matcher(page.text()).replaceAll(""));
      while (span.find()) {
        for (String word : span.group(1).split("\\W+", -1)) {
          if (forbidden.contains(word)) {
            bad.add(page.path() + " names the type " + word);
          }
        }
      }
    }
    return bad;
  }

  /**
   * Tests whose methods start operators for one control plane at the same time: each operator
   * registers its own webhooks, so that the API server would ask the other one.
   */
  static List<String> concurrentOperators(List<Source> tests) {
    return tests.stream()
        .filter(test -> test.text().contains("@ControlPlaneTest("))
        .filter(test -> OPERATOR.matcher(test.text()).find())
        .filter(test -> TEST_METHOD.matcher(test.text()).results().count() > 1)
        .filter(test -> !test.text().contains("Lifecycle.PER_CLASS"))
        .filter(test -> !test.text().contains("@Execution(ExecutionMode.SAME_THREAD)"))
        .map(test -> test.path() + " starts operators in methods that run concurrently")
        .toList();
  }

  /** Classes of tests on control planes of which the daily build runs some method. */
  static List<String> daily(List<Source> tests) {
    return tests.stream()
        .filter(test -> !NIGHTLY.matcher(test.text()).find())
        .map(Source::path)
        .toList();
  }

  /** Sources that cite a document which the project doesn't contain. */
  static List<String> foreignDocuments(List<Source> sources) {
    List<String> bad = new ArrayList<>();
    for (Source source : sources) {
      int number = 0;
      for (String line : source.text().split("\n", -1)) {
        number++;
        if (FOREIGN.matcher(line).find()) {
          bad.add(source.path() + ":" + number + " cites no page of docs: " + line.strip());
        }
      }
    }
    return bad;
  }

  /**
   * References that lead nowhere: references of sources to pages and their headings, and relative
   * links of Markdown pages.
   *
   * @param exists whether the project has a file or directory with this path
   */
  static List<String> brokenReferences(List<Source> sources, Predicate<String> exists) {
    Map<String, Set<String>> headings = new HashMap<>();
    for (Source source : sources) {
      if (source.path().endsWith(".md")) {
        headings.put(source.path(), anchors(source.text()));
      }
    }
    List<String> bad = new ArrayList<>();
    for (Source source : sources) {
      for (String target : targets(source)) {
        if (!resolves(target, headings, exists)) {
          bad.add(source.path() + " refers to " + target);
        }
      }
    }
    return bad;
  }

  /** Everything that a source refers to, as paths from the root with or without a heading. */
  private static List<String> targets(Source source) {
    List<String> targets = new ArrayList<>();
    if (!source.path().endsWith(".md")) {
      PAGE.matcher(source.text()).results().forEach(found -> targets.add(found.group()));
      return targets;
    }
    Matcher link = LINK.matcher(FENCE.matcher(source.text()).replaceAll(""));
    while (link.find()) {
      String target = link.group(1);
      if (target.startsWith("#")) {
        targets.add(source.path() + target);
      } else if (!target.matches("[a-z]+:.*")) {
        targets.add(resolved(source.path(), target));
      }
    }
    return targets;
  }

  private static String resolved(String from, String target) {
    int slash = from.lastIndexOf('/');
    return java.nio.file.Path.of(slash < 0 ? "" : from.substring(0, slash))
        .resolve(target)
        .normalize()
        .toString();
  }

  private static boolean resolves(
      String target, Map<String, Set<String>> headings, Predicate<String> exists) {
    int hash = target.indexOf('#');
    String path = hash < 0 ? target : target.substring(0, hash);
    if (!exists.test(path)) {
      return false;
    }
    return hash < 0 || headings.getOrDefault(path, Set.of()).contains(target.substring(hash + 1));
  }

  /** Anchors of a page's headings, as Markdown viewers make them. */
  static Set<String> anchors(String page) {
    Set<String> anchors = new HashSet<>();
    Matcher heading = HEADING.matcher(FENCE.matcher(page).replaceAll(""));
    while (heading.find()) {
      String text = heading.group(1).replaceAll("\\[([^\\]]*)\\]\\([^)]*\\)", "$1");
      String anchor =
          text.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N}_\\- ]", "").replace(' ', '-');
      String unique = anchor;
      for (int i = 1; !anchors.add(unique); i++) {
        unique = anchor + "-" + i;
      }
    }
    return anchors;
  }

  private static List<Declared> declared(List<Source> sources) {
    List<Declared> types = new ArrayList<>();
    for (Source source : sources) {
      Matcher type = TYPE.matcher(NO_CODE.matcher(source.text()).replaceAll(""));
      while (type.find()) {
        types.add(
            new Declared(
                type.group(3),
                source.path(),
                !type.group(1).isEmpty(),
                type.group(2).contains("public ")));
      }
    }
    return types;
  }

  private static boolean isVersioned(String path) {
    return path.contains("/api/v1");
  }

  private static String fileName(String path) {
    return path.substring(path.lastIndexOf('/') + 1).replace(".java", "");
  }
}
