import UnfoldIcon from '@mui/icons-material/UnfoldMore'
import {
  Avatar,
  Box,
  ButtonBase,
  type ButtonBaseProps,
  Divider,
  ListSubheader,
  Menu,
  MenuItem,
  Typography,
} from '@mui/material'
import { type MouseEvent, useState } from 'react'
import { useLogout, useStore } from 'react-admin'
import { useNavigate } from 'react-router-dom'
import { useSession } from './session.tsx'
import { visuallyHidden } from './ui/visually.ts'

const looks = [
  { value: undefined, label: 'Like the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const

/** The signed-in user: account page, colour scheme, log out. */
export function AccountMenu() {
  const logout = useLogout()
  const navigate = useNavigate()
  const [look, setLook] = useStore<'light' | 'dark' | undefined>('theme')
  const [anchor, setAnchor] = useState<HTMLElement>()
  const close = () => setAnchor(undefined)
  return (
    <Box sx={{ p: 1.25, borderTop: 1, borderColor: 'divider' }}>
      <AccountButton
        expanded={Boolean(anchor)}
        onClick={(event: MouseEvent<HTMLElement>) => setAnchor(event.currentTarget)}
      />
      <Menu
        anchorEl={anchor ?? null}
        open={Boolean(anchor)}
        onClose={close}
        anchorOrigin={{ vertical: 'top', horizontal: 'left' }}
        transformOrigin={{ vertical: 'bottom', horizontal: 'left' }}
        slotProps={{ paper: { sx: { minWidth: 208 }, elevation: 6 } }}
      >
        <MenuItem
          onClick={() => {
            close()
            navigate('/account')
          }}
        >
          Your account
        </MenuItem>
        <Divider />
        <ListSubheader role="presentation" sx={{ lineHeight: 2.4, bgcolor: 'transparent' }}>
          Look
        </ListSubheader>
        {looks.map(({ value, label }) => (
          <MenuItem
            key={label}
            role="menuitemradio"
            aria-checked={look === value}
            selected={look === value}
            onClick={() => {
              setLook(value)
              close()
            }}
          >
            {label}
          </MenuItem>
        ))}
        <Divider />
        <MenuItem onClick={() => logout()}>Log out</MenuItem>
      </Menu>
    </Box>
  )
}

function AccountButton({ expanded, ...rest }: { expanded: boolean } & ButtonBaseProps) {
  const { user } = useSession()
  const name = user.display_name || user.login
  return (
    <ButtonBase
      aria-haspopup="menu"
      aria-expanded={expanded}
      sx={{
        width: '100%',
        gap: 1.25,
        p: 0.75,
        borderRadius: 2,
        textAlign: 'left',
        '&:hover': { bgcolor: 'action.hover' },
      }}
      {...rest}
    >
      <Avatar
        aria-hidden
        sx={{
          width: 30,
          height: 30,
          fontSize: 14,
          fontWeight: 600,
          bgcolor: 'primary.main',
          color: 'primary.contrastText',
        }}
      >
        {[...name][0]?.toUpperCase()}
      </Avatar>
      <Box component="span" sx={visuallyHidden}>
        Account of
      </Box>
      <Box sx={{ flex: 1, minWidth: 0 }}>
        <Typography noWrap sx={{ fontSize: '0.86rem', fontWeight: 600, lineHeight: 1.3 }}>
          {name}
        </Typography>
        <Typography noWrap variant="caption" component="p" sx={{ color: 'text.secondary', lineHeight: 1.3 }}>
          {user.email}
        </Typography>
      </Box>
      <UnfoldIcon fontSize="small" sx={{ color: 'text.secondary' }} />
    </ButtonBase>
  )
}
