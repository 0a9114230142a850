package io.ordertimeout.orders.access;

import io.ordertimeout.orders.OrderTimeoutProperties;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.core.authority.mapping.GrantedAuthoritiesMapper;
import org.springframework.security.oauth2.core.user.OAuth2UserAuthority;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;

/** Maps the roles in the claims of a token or user to the service's roles; ignores all others. */
final class ClaimRoleMapper {

  private final OrderTimeoutProperties.Access settings;

  ClaimRoleMapper(OrderTimeoutProperties.Access settings) {
    this.settings = settings;
  }

  /** Maps the claims of a bearer token. */
  JwtAuthenticationConverter tokenConverter() {
    JwtAuthenticationConverter converter = new JwtAuthenticationConverter();
    converter.setJwtGrantedAuthoritiesConverter(token -> authorities(token.getClaims()));
    return converter;
  }

  /** Maps the claims of a user whom an identity provider has authenticated. */
  GrantedAuthoritiesMapper userAuthoritiesMapper() {
    return authorities ->
        authorities.stream()
            .filter(OAuth2UserAuthority.class::isInstance)
            .map(authority -> ((OAuth2UserAuthority) authority).getAttributes())
            .flatMap(claims -> authorities(claims).stream())
            .toList();
  }

  private Collection<GrantedAuthority> authorities(Map<String, Object> claims) {
    Object claim = claim(claims, settings.rolesClaim());
    Collection<?> roles =
        claim instanceof Collection<?> many ? many : claim == null ? List.of() : List.of(claim);
    List<GrantedAuthority> authorities = new ArrayList<>();
    if (roles.contains(settings.operatorRole())) {
      authorities.add(new SimpleGrantedAuthority("ROLE_" + Role.OPERATOR));
    }
    if (roles.contains(settings.viewerRole())) {
      authorities.add(new SimpleGrantedAuthority("ROLE_" + Role.VIEWER));
    }
    return authorities;
  }

  private static @Nullable Object claim(Map<?, ?> claims, String path) {
    if (claims.containsKey(path)) {
      return claims.get(path);
    }
    int dot = path.indexOf('.');
    return dot > 0 && claims.get(path.substring(0, dot)) instanceof Map<?, ?> inner
        ? claim(inner, path.substring(dot + 1))
        : null;
  }
}
