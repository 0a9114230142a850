/** Encodes parameters as a query string. Lists repeat their name; empty values are left out. */
export function queryString(parameters) {
  return new URLSearchParams(
    Object.entries(parameters)
      .flatMap(([name, value]) => [value].flat().map((item) => [name, item]))
      .filter(([, value]) => value !== null && value !== undefined && value !== ''),
  ).toString();
}

/** The address of a view of this page. */
export function viewHref(view, parameters = {}) {
  const query = queryString(parameters);
  return `#/${view}${query ? `?${query}` : ''}`;
}

/** The address of a path of the service, which may itself be below a path of its host. */
export function serviceUrl(path) {
  return `.${path}`;
}
