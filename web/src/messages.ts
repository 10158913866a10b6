import polyglotI18nProvider from 'ra-i18n-polyglot'
import english from 'ra-language-english'
import type { I18nProvider } from 'react-admin'
import { recordPages } from './pages.ts'
import { count } from './ui/format.ts'

const resources = Object.fromEntries(
  recordPages.map(({ resource, name }) => [resource, { name: name.join(' |||| ') }]),
)

/** Asked as well while what was typed is on its way to the server. */
const unsaved_changes = 'Not everything that you have changed here is saved yet. Leave the page all the same?'
const ra = {
  ...english.ra,
  message: { ...english.ra.message, unsaved_changes },
  // With it react-admin names the choice of none in a list, which has a name of its own, such as "Any".
  action: { ...english.ra.action, clear_input_value: '' },
}

/** Name of the button that empties a field. */
export const CLEAR = 'Clear value'

const keys = polyglotI18nProvider(
  () => ({ ...english, ra, resources }),
  'en',
  [{ locale: 'en', name: 'English' }],
  { allowMissing: true },
)

/** Numbers as all pages show them; `smart_count` is what decides between singular and plural. */
const withMarks = (options: Record<string, unknown> = {}) =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      typeof value === 'number' && name !== 'smart_count' ? count(value) : value,
    ]),
  )

/**
 * Translates keys of react-admin only. All other text is shown as it is, since names and messages may look like keys.
 */
export const i18nProvider: I18nProvider = {
  ...keys,
  translate: (key, options) =>
    /^(ra|resources)\./.test(key) ? keys.translate(key, withMarks(options)) : key,
}
