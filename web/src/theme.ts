/** The theme: calm surfaces, one accent colour for actions, aligned figures. */
import '@fontsource-variable/inter/index.css'
import { createTheme, type PaletteOptions, type Theme, type ThemeOptions } from '@mui/material/styles'

declare module '@mui/material/styles' {
  interface Palette {
    plot: {
      paid: string
      failed: string
      active: string
      pending: string
      inactive: string
      rejected: string
    }
    line: string
  }
  interface PaletteOptions {
    plot?: Palette['plot']
    line?: string
  }
}

const light: PaletteOptions = {
  mode: 'light',
  primary: { main: '#0b6e63', dark: '#08564d', light: '#d9efeb', contrastText: '#fff' },
  secondary: { main: '#3d4b5c' },
  error: { main: '#b3261e', light: '#fbe9e7' },
  warning: { main: '#8a5300', light: '#fdf1dc' },
  success: { main: '#1b6e3c', light: '#e2f3e8' },
  info: { main: '#2a5d8f', light: '#e5eff8' },
  background: { default: '#f6f7f5', paper: '#ffffff' },
  text: { primary: '#1a2327', secondary: '#55636a' },
  divider: '#e3e7e5',
  line: '#e3e7e5',
  plot: {
    paid: '#12877a',
    failed: '#d1603d',
    active: '#12877a',
    pending: '#d99a2b',
    inactive: '#8b98a3',
    rejected: '#c4524d',
  },
}

const dark: PaletteOptions = {
  mode: 'dark',
  primary: { main: '#5cc9b8', dark: '#86dccf', light: '#163b37', contrastText: '#06211d' },
  secondary: { main: '#b5c2cc' },
  error: { main: '#f2998f', light: '#3d2321' },
  warning: { main: '#efbd6d', light: '#392d18' },
  success: { main: '#7fd2a0', light: '#1a3526' },
  info: { main: '#90bfe8', light: '#1c2f40' },
  background: { default: '#11171a', paper: '#192125' },
  text: { primary: '#e9eeef', secondary: '#a3b1b8' },
  divider: '#2b363b',
  line: '#2b363b',
  plot: {
    paid: '#45b8a8',
    failed: '#e8805e',
    active: '#45b8a8',
    pending: '#e0ac4a',
    inactive: '#8796a1',
    rejected: '#db726c',
  },
}

/** Focus ring for keyboard users. */
const focusRing = ({ palette }: Theme) => ({ outline: `2px solid ${palette.primary.main}`, outlineOffset: 2 })

const components: NonNullable<ThemeOptions['components']> = {
  MuiCssBaseline: {
    styleOverrides: theme => ({
      body: { fontFeatureSettings: '"cv11", "ss03"' },
      // Stale figures and rows stay until the new ones arrive, dimmed where that takes long enough to be seen.
      '[aria-busy=true]': { opacity: 0.5, transition: 'opacity 0.1s 0.25s' },
      '::selection': { backgroundColor: 'rgba(18, 135, 122, 0.25)' },
      ':focus-visible': focusRing(theme),
      '@media (prefers-reduced-motion: reduce)': {
        '*, *::before, *::after': {
          animationDuration: '0s !important',
          transitionDuration: '0s !important',
        },
      },
      // What only a colour tells apart is chosen all the same.
      '@media (forced-colors: active)': {
        '[aria-pressed=true], [aria-current=page], [aria-selected=true]': {
          forcedColorAdjust: 'none',
          color: 'HighlightText !important',
          backgroundColor: 'Highlight !important',
        },
      },
      '@media print': {
        'header, [role=search], button, .MuiButton-root, .MuiTablePagination-root, .MuiCheckbox-root': {
          display: 'none !important',
        },
        // What scrolls on the screen would be drawn over what follows.
        'main, main *': { overflow: 'visible !important', maxHeight: 'none !important' },
      },
    }),
  },
  // The ring is drawn inside, since lists and menus clip what lies outside.
  MuiButtonBase: {
    styleOverrides: {
      root: ({ theme }) => ({
        '&:focus-visible, &.Mui-focusVisible': { ...focusRing(theme), outlineOffset: -2 },
      }),
    },
  },
  MuiButton: {
    defaultProps: { disableElevation: true },
    styleOverrides: { root: { whiteSpace: 'nowrap', '&&:focus-visible': { outlineOffset: 2 } } },
  },
  MuiPaper: { defaultProps: { elevation: 0 }, styleOverrides: { root: { backgroundImage: 'none' } } },
  MuiCard: {
    styleOverrides: {
      root: ({ theme }) => ({ border: `1px solid ${theme.palette.line}`, borderRadius: 12 }),
    },
  },
  MuiDialog: {
    defaultProps: { fullWidth: true, maxWidth: 'sm' },
    styleOverrides: {
      paper: ({ theme }) => ({
        [theme.breakpoints.down('sm')]: {
          margin: 12,
          width: 'calc(100% - 24px)',
          maxHeight: 'calc(100% - 24px)',
        },
      }),
      paperFullScreen: { '&&': { margin: 0, width: '100%', maxHeight: 'none' } },
    },
  },
  MuiDialogContent: {
    styleOverrides: { root: ({ theme }) => ({ [theme.breakpoints.down('sm')]: { paddingInline: 16 } }) },
  },
  MuiDialogTitle: {
    styleOverrides: {
      root: ({ theme }) => ({
        fontSize: '1.125rem',
        fontWeight: 620,
        paddingBottom: 8,
        [theme.breakpoints.down('sm')]: { paddingInline: 16 },
      }),
    },
  },
  MuiDialogActions: {
    styleOverrides: {
      root: ({ theme }) => ({
        padding: '12px 24px 20px',
        [theme.breakpoints.down('sm')]: { paddingInline: 16 },
      }),
    },
  },
  MuiTextField: { defaultProps: { variant: 'outlined', size: 'small', margin: 'none' } },
  MuiFormControl: { defaultProps: { variant: 'outlined', size: 'small', margin: 'none' } },
  MuiSelect: {
    styleOverrides: {
      select: ({ theme }) => ({ [theme.breakpoints.down('sm')]: { whiteSpace: 'normal' } }),
    },
  },
  MuiAutocomplete: {
    defaultProps: { size: 'small' },
    styleOverrides: {
      paper: ({ theme }) => ({ border: `1px solid ${theme.palette.line}`, boxShadow: theme.shadows[6] }),
    },
  },
  // White on white otherwise, while it is off.
  MuiSwitch: {
    styleOverrides: { thumb: ({ theme }) => ({ border: `1px solid ${theme.palette.line}` }) },
  },
  MuiTooltip: { defaultProps: { arrow: true } },
  MuiTableCell: {
    styleOverrides: {
      root: ({ theme }) => ({ borderBottomColor: theme.palette.line, padding: '9px 14px' }),
      head: ({ theme }) => ({
        fontSize: '0.78rem',
        fontWeight: 560,
        color: theme.palette.text.secondary,
        whiteSpace: 'nowrap',
        backgroundColor: 'transparent',
      }),
      paddingCheckbox: { padding: '0 0 0 6px' },
    },
  },
  MuiToggleButton: { styleOverrides: { root: ({ theme }) => ({ color: theme.palette.text.secondary }) } },
  MuiFormHelperText: {
    styleOverrides: {
      root: ({ theme }) => ({ '&.Mui-disabled': { color: theme.palette.text.secondary } }),
    },
  },
  MuiTab: { styleOverrides: { root: { minHeight: 44, fontSize: '0.9rem' } } },
  MuiTabs: { styleOverrides: { root: { minHeight: 44 } } },
  MuiLink: { defaultProps: { underline: 'hover' }, styleOverrides: { root: { fontWeight: 550 } } },
  MuiAlert: {
    styleOverrides: {
      root: ({ theme, ownerState: { severity = 'success' } }) => ({
        borderRadius: 8,
        alignItems: 'center',
        color: theme.palette.text.primary,
        backgroundColor: theme.palette[severity].light,
        '& .MuiAlert-icon': { color: theme.palette[severity].main },
      }),
    },
  },
  MuiChip: { styleOverrides: { root: { fontWeight: 550 } } },
  MuiTablePagination: { styleOverrides: { root: { borderBottom: 0 } } },
}

function themeOf(palette: PaletteOptions): Theme {
  return createTheme({
    palette,
    shape: { borderRadius: 8 },
    typography: {
      fontFamily: '"Inter Variable", system-ui, sans-serif',
      fontSize: 13.5,
      h1: { fontSize: '1.5rem', fontWeight: 650, letterSpacing: '-0.018em', lineHeight: 1.25 },
      h2: { fontSize: '1.0625rem', fontWeight: 620, letterSpacing: '-0.01em', lineHeight: 1.35 },
      h3: { fontSize: '0.9375rem', fontWeight: 600, lineHeight: 1.4 },
      button: { textTransform: 'none', fontWeight: 560 },
    },
    components,
  })
}

export const lightTheme = themeOf(light)
export const darkTheme = themeOf(dark)
