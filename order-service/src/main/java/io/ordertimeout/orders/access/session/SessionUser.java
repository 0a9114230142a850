package io.ordertimeout.orders.access.session;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpSession;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.context.HttpRequestResponseHolder;
import org.springframework.security.web.context.SecurityContextRepository;
import org.springframework.session.FindByIndexNameSessionRepository;

/**
 * The user of a session: the name and the roles, as text. Instances of different versions read each
 * other's sessions, which serialized objects of Spring Security would not allow. A session whose
 * proof is not the user's any more belongs to nobody. Thread-safe.
 */
public final class SessionUser implements SecurityContextRepository {

  /** The attribute by which the sessions of a user are found. */
  private static final String NAME = FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME;

  private static final String ROLES = "roles";
  private static final String PROOF = "proof";
  private static final String SEPARATOR = " ";

  private final UnaryOperator<String> proofs;

  /**
   * Creates it.
   *
   * @param proofs what the session of a user, by name, has to contain
   */
  public SessionUser(UnaryOperator<String> proofs) {
    this.proofs = proofs;
  }

  @Override
  @SuppressWarnings("deprecation") // still the only abstract way to load a context
  public SecurityContext loadContext(HttpRequestResponseHolder holder) {
    SecurityContext context = SecurityContextHolder.createEmptyContext();
    HttpSession session = holder.getRequest().getSession(false);
    if (session != null
        && session.getAttribute(NAME) instanceof String name
        && session.getAttribute(ROLES) instanceof String roles
        && proofs.apply(name).equals(session.getAttribute(PROOF))) {
      context.setAuthentication(
          UsernamePasswordAuthenticationToken.authenticated(name, null, authorities(roles)));
    }
    return context;
  }

  @Override
  public void saveContext(
      SecurityContext context, HttpServletRequest request, HttpServletResponse response) {
    Authentication user = context.getAuthentication();
    if (user == null) {
      clear(request.getSession(false));
      return;
    }
    HttpSession session = request.getSession();
    session.setAttribute(NAME, user.getName());
    session.setAttribute(PROOF, proofs.apply(user.getName()));
    session.setAttribute(
        ROLES,
        user.getAuthorities().stream()
            .map(GrantedAuthority::getAuthority)
            .collect(Collectors.joining(SEPARATOR)));
  }

  @Override
  public boolean containsContext(HttpServletRequest request) {
    HttpSession session = request.getSession(false);
    return session != null && session.getAttribute(NAME) != null;
  }

  private static List<SimpleGrantedAuthority> authorities(String roles) {
    return Stream.of(roles.split(SEPARATOR))
        .filter(role -> !role.isEmpty())
        .map(SimpleGrantedAuthority::new)
        .toList();
  }

  private static void clear(@Nullable HttpSession session) {
    if (session != null) {
      session.removeAttribute(NAME);
      session.removeAttribute(ROLES);
      session.removeAttribute(PROOF);
    }
  }
}
