//! From the greeting to the first message: EHLO, STARTTLS, AUTH.

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{
    super::Protocol,
    Client, Fault, Phase,
    extensions::Extensions,
    reply::{Class, Reply},
};

impl Client {
    pub(super) fn greeted(&mut self, reply: &Reply) {
        match reply.class() {
            Class::Done => {
                if !self.was_interrupted() {
                    self.say_hello();
                }
            }
            Class::GoOn => self.end(Fault::Protocol),
            Class::NotNow | Class::Never => self.end_with(reply, Fault::Unavailable),
        }
    }

    pub(super) fn say_hello(&mut self) {
        let verb = match self.options.protocol {
            Protocol::Smtp => "EHLO",
            Protocol::Lmtp => "LHLO",
        };
        self.write_line(&format!("{verb} {}", self.options.hostname));
        self.phase = Phase::Hello;
    }

    pub(super) fn introduced(&mut self, reply: &Reply) {
        match reply.class() {
            Class::Done => {}
            Class::GoOn => return self.end(Fault::Protocol),
            Class::NotNow | Class::Never => return self.end_with(reply, Fault::Unavailable),
        }
        if self.was_interrupted() {
            return;
        }
        self.extensions = Extensions::read(reply);
        if self.options.starttls && !self.tls {
            if !self.extensions.starttls {
                return self.end(Fault::TlsNotOffered);
            }
            self.write_line("STARTTLS");
            self.phase = Phase::StartTls;
            return;
        }
        self.authenticate();
    }

    pub(super) fn tls_offered(&mut self, reply: &Reply) {
        match reply.class() {
            // What stands behind it in the clear was put there for us to read it as if it had come
            // encrypted (CVE-2011-0411 and its kin).
            Class::Done if !self.input.is_empty() => self.end(Fault::Protocol),
            Class::Done => self.phase = Phase::AwaitTls,
            Class::GoOn => self.end(Fault::Protocol),
            Class::NotNow | Class::Never => self.end_with(reply, Fault::TlsNotOffered),
        }
    }

    fn authenticate(&mut self) {
        let Some((username, password)) = &self.options.credentials else {
            return self.logged_in();
        };
        if !self.tls {
            return self.end(Fault::Tls);
        }
        if self.extensions.auth_plain {
            let response = BASE64_STANDARD.encode(format!("\0{username}\0{}", password.expose()));
            self.write_line(&format!("AUTH PLAIN {response}"));
            self.phase = Phase::AuthPlain;
        } else if self.extensions.auth_login {
            self.write_line("AUTH LOGIN");
            self.phase = Phase::AuthLogin { asked: 0 };
        } else {
            self.end(Fault::AuthNotOffered);
        }
    }

    /// AUTH LOGIN: one question for the name, one for the password.
    pub(super) fn asked(&mut self, reply: &Reply, asked: u8) {
        if reply.class() != Class::GoOn || asked > 1 {
            return match (reply.class(), asked) {
                (Class::Done, ..2) => self.end(Fault::Protocol),
                _ => self.authenticated(reply),
            };
        }
        if self.was_interrupted() {
            return;
        }
        if let Some((username, password)) = &self.options.credentials {
            let word = if asked == 0 {
                username
            } else {
                password.expose()
            };
            let word = BASE64_STANDARD.encode(word);
            self.write_line(&word);
            self.phase = Phase::AuthLogin { asked: asked + 1 };
        }
    }

    pub(super) fn authenticated(&mut self, reply: &Reply) {
        match reply.class() {
            Class::Done => self.logged_in(),
            Class::GoOn => self.end(Fault::Protocol),
            Class::NotNow => self.end_with(&reply.without_text(), Fault::Unavailable),
            Class::Never => self.end_with(&reply.without_text(), Fault::AuthRefused),
        }
    }

    fn logged_in(&mut self) {
        if self.was_interrupted() {
            return;
        }
        self.phase = Phase::Ready;
        if self.transaction.is_some() {
            self.begin();
        }
    }
}
