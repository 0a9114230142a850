import { emptyState, errorState, h, loading, render } from '../dom.js';

export const PAGE_SIZE = 50;

/**
 * A list that loads page by page and shows each page below the previous ones.
 *
 * Settings:
 * - fetchPage: fetches the page that follows a cursor, the first one for null
 * - emptyText: shown if there are no items
 * - build: maps all items to a node
 */
export function pagedList({ fetchPage, emptyText, build }) {
  const element = h('div', {}, loading());

  async function loadAfter(previous, after) {
    try {
      const { data, next } = await fetchPage(after);
      const items = [...previous, ...data];
      render(element,
        items.length === 0
          ? emptyState(next === null ? emptyText : 'Nothing found so far; there is more to search.')
          : build(items),
        next !== null &&
          h('button', { type: 'button', on: { click: () => loadAfter(items, next) } }, 'Show more'));
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(element, previous.length > 0 && build(previous), errorState(error, () => loadAfter(previous, after)));
      }
    }
  }

  return { element, load: () => loadAfter([], null) };
}
