import { emptyState, errorState, h, loading, render } from '../dom.js';

export const PAGE_SIZE = 50;

/**
 * A list that loads page by page and shows each page below the previous ones.
 *
 * Settings:
 * - fetchPage: fetches up to PAGE_SIZE items that follow the given ones
 * - emptyText: shown if there are no items
 * - build: maps all items to a node
 */
export function pagedList({ fetchPage, emptyText, build }) {
  const element = h('div', {}, loading());

  async function loadAfter(previous) {
    try {
      const page = await fetchPage(previous);
      const items = [...previous, ...page];
      render(element, items.length === 0
        ? emptyState(emptyText)
        : [
            build(items),
            page.length >= PAGE_SIZE &&
              h('button', { type: 'button', on: { click: () => loadAfter(items) } }, 'Show more'),
          ]);
    } catch (error) {
      if (error.name !== 'AbortError') {
        render(element, previous.length > 0 && build(previous), errorState(error, () => loadAfter(previous)));
      }
    }
  }

  return { element, load: () => loadAfter([]) };
}
