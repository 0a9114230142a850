package io.ordertimeout.it.observability;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A PromQL expression, parsed just far enough to find the metrics that it uses. Immutable. */
final class Expression {

  private static final Pattern TOKEN =
      Pattern.compile(
          """
          (?<space>\\s+|#[^\\n]*)\
          |(?<string>"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*')\
          |(?<name>[a-zA-Z_:][a-zA-Z0-9_:]*)\
          |(?<number>[0-9.][0-9a-zA-Z.]*)\
          |(?<operator>==|!=|>=|<=|=~|!~|[-+*/%^=<>(){},@\\[\\]:])\
          """);

  private static final Set<String> COMPARISONS = Set.of("==", "!=", ">", "<", ">=", "<=");

  private static final Set<String> BEFORE_LABELS =
      Set.of("by", "without", "on", "ignoring", "group_left", "group_right");

  private static final Set<String> WORDS =
      Set.of("and", "or", "unless", "bool", "offset", "atan2", "inf", "nan");

  private enum Kind {
    METRIC,
    COMPARISON,
    UNLESS,
    ABSENT,
    OTHER
  }

  private record Token(Kind kind, String text) {}

  private final String text;
  private final List<Token> tokens;

  private Expression(String text, List<Token> tokens) {
    this.text = text;
    this.tokens = tokens;
  }

  /**
   * Reads an expression.
   *
   * @throws IllegalArgumentException if it is not a valid expression
   */
  static Expression of(String text) {
    List<String> texts = new ArrayList<>();
    List<String> groups = new ArrayList<>();
    Matcher matcher = TOKEN.matcher(text);
    int end = 0;
    while (end < text.length()) {
      if (!matcher.find(end) || matcher.start() != end) {
        throw new IllegalArgumentException(
            "not PromQL from character " + end + " on: " + text.substring(end));
      }
      texts.add(matcher.group());
      groups.add(group(matcher));
      end = matcher.end();
    }
    return new Expression(text, classify(texts, groups));
  }

  private static String group(Matcher matcher) {
    for (String group : List.of("space", "string", "name", "number")) {
      if (matcher.group(group) != null) {
        return group;
      }
    }
    return "operator";
  }

  private static List<Token> classify(List<String> texts, List<String> groups) {
    List<Token> tokens = new ArrayList<>();
    int braces = 0;
    boolean labels = false;
    for (int i = 0; i < texts.size(); i++) {
      String text = texts.get(i);
      Kind kind = Kind.OTHER;
      if (text.equals("{")) {
        braces++;
      } else if (text.equals("}")) {
        braces--;
      } else if (labels && text.equals(")")) {
        labels = false;
      } else if (braces == 0 && !labels && COMPARISONS.contains(text)) {
        kind = Kind.COMPARISON;
      } else if (braces == 0 && !labels && groups.get(i).equals("name")) {
        String word = text.toLowerCase(Locale.ROOT);
        String next = next(texts, groups, i);
        if (BEFORE_LABELS.contains(word)) {
          labels = next.equals("(");
        } else if (word.equals("unless")) {
          kind = Kind.UNLESS;
        } else if (word.equals("absent")) {
          kind = Kind.ABSENT;
        } else if (!WORDS.contains(word) && !next.equals("(") && !BEFORE_LABELS.contains(next)) {
          kind = Kind.METRIC;
        }
      }
      tokens.add(new Token(kind, text));
    }
    return tokens;
  }

  private static String next(List<String> texts, List<String> groups, int index) {
    for (int i = index + 1; i < texts.size(); i++) {
      if (!groups.get(i).equals("space")) {
        return texts.get(i);
      }
    }
    return "";
  }

  /** The names of the series that it uses. */
  Set<String> metrics() {
    Set<String> names = new TreeSet<>();
    for (Token token : tokens) {
      if (token.kind == Kind.METRIC) {
        names.add(token.text);
      }
    }
    return names;
  }

  /**
   * The expression without its conditions, which has a value exactly if all series that the
   * conditions concern exist: comparisons return whether they hold instead of filtering, and series
   * that must be absent have to be present.
   */
  String withoutConditions() {
    StringBuilder result = new StringBuilder();
    for (Token token : tokens) {
      switch (token.kind) {
        case COMPARISON -> result.append(token.text).append(" bool ");
        case UNLESS -> result.append("and");
        case ABSENT -> result.append("count");
        case METRIC, OTHER -> result.append(token.text);
      }
    }
    return result.toString();
  }

  @Override
  public String toString() {
    return text;
  }
}
